//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// journey measures the way from an empty folder to a generated project, compared with
// kubebuilder. operon starts with an empty cache. kubebuilder starts with a warm module
// cache, the network for `go mod tidy`, and the programs in bin that its Makefile would
// build.
func (b *bencher) journey(text *strings.Builder) error {
	kind := []string{"--group", "ship", "--version", "v1", "--kind", "Frigate"}
	start := []string{"init", "--domain", "example.org", "--repo", "example.org/fleet"}
	steps := []struct {
		name         string
		ours, theirs []string
	}{
		{"init", start, start},
		{"create api", append([]string{"create", "api", "--resource", "--controller"}, kind...), append([]string{"create", "api", "--resource", "--controller"}, kind...)},
		{"create webhook", append([]string{"create", "webhook", "--defaulting", "--programmatic-validation"}, kind...), append([]string{"create", "webhook", "--defaulting", "--programmatic-validation"}, kind...)},
		{"manifests and generate", []string{"generate"}, nil}, // make
	}
	var rows []*row
	for _, s := range steps {
		rows = append(rows, &row{name: s.name})
	}
	if !b.rows.MatchString("journey/") {
		return nil
	}
	tools := filepath.Join(b.temp, "tools")
	for round := range b.rounds + 1 { // the first builds the tools
		fmt.Fprintf(os.Stderr, "journey: round %d of %d\n", round, b.rounds)
		dir, err := os.MkdirTemp(b.temp, "journey-")
		if err != nil {
			return err
		}
		ours, theirs := filepath.Join(dir, "ours", "fleet"), filepath.Join(dir, "theirs", "fleet")
		if err := os.CopyFS(filepath.Join(theirs, "bin"), os.DirFS(tools)); round > 0 && err != nil {
			return err
		}
		for _, folder := range []string{ours, theirs} {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
		}
		for i, s := range steps {
			us := program{ours, []string{"OPERON_CACHE=" + filepath.Join(dir, "cache")}, append([]string{b.operon}, s.ours...)}
			them := program{theirs, nil, append([]string{b.kubebuilder}, s.theirs...)}
			if s.theirs == nil {
				them.args = []string{"make", "manifests", "generate"}
			}
			r := rows[i]
			if round == 0 {
				r = &row{}
			}
			if err := r.add(us, them); err != nil {
				return err
			}
		}
		if round == 0 {
			if err := os.Rename(filepath.Join(theirs, "bin"), tools); err != nil {
				return err
			}
		}
		_ = os.RemoveAll(dir)
	}
	total := &row{name: "together"}
	for round := range b.rounds {
		var ours, theirs usage
		for _, r := range rows {
			ours, theirs = ours.plus(r.ours[round]), theirs.plus(r.theirs[round])
		}
		total.ours, total.theirs = append(total.ours, ours), append(total.theirs, theirs)
	}
	table(text, "From an empty folder", "kubebuilder", append(rows, total))
	return nil
}

func (u usage) plus(v usage) usage {
	return usage{u.wall + v.wall, u.cpu + v.cpu, max(u.peak, v.peak)}
}
