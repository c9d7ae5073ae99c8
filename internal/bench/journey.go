//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// step is one command of a journey, with the arguments of both programs. Without arguments
// for kubebuilder, it is `make manifests generate` there.
type step struct {
	name         string
	ours, theirs []string
}

func journeySteps() []step {
	kind := []string{"--group", "ship", "--version", "v1", "--kind", "Frigate"}
	initialize := []string{"init", "--domain", "example.org", "--repo", "example.org/fleet"}
	api := append([]string{"create", "api", "--resource", "--controller"}, kind...)
	webhook := append([]string{"create", "webhook", "--defaulting", "--programmatic-validation"}, kind...)
	return []step{
		{"init", initialize, initialize},
		{"create api", api, api},
		{"create webhook", webhook, webhook},
		{"manifests and generate", []string{"generate"}, nil},
	}
}

// journey measures the commands from an empty folder to a generated project, compared
// with kubebuilder. operon starts with an empty cache. kubebuilder starts with a warm
// module cache, the network for `go mod tidy`, and the programs in bin that its Makefile
// would build.
func (b *bencher) journey(text *strings.Builder) error {
	if !b.rows.MatchString("journey/") {
		return nil
	}
	steps := journeySteps()
	var rows []*row
	for _, s := range steps {
		rows = append(rows, &row{name: s.name})
	}
	tools := filepath.Join(b.temp, "tools")
	for round := range b.rounds + 1 { // the first builds the tools
		fmt.Fprintf(os.Stderr, "journey: round %d of %d\n", round, b.rounds)
		into := rows
		if round == 0 {
			into = nil
		}
		if err := b.journeyRound(steps, into, tools); err != nil {
			return err
		}
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

// journeyRound runs the steps once with both programs, and adds the results to rows.
// kubebuilder uses the programs in the folder tools. Without rows, the round creates that
// folder.
func (b *bencher) journeyRound(steps []step, rows []*row, tools string) error {
	dir, err := os.MkdirTemp(b.temp, "journey-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ours, theirs := filepath.Join(dir, "ours", "fleet"), filepath.Join(dir, "theirs", "fleet")
	for _, folder := range []string{ours, theirs} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	bin := filepath.Join(theirs, "bin")
	if rows != nil {
		if err := os.CopyFS(bin, os.DirFS(tools)); err != nil {
			return err
		}
	}
	for i, s := range steps {
		us := program{ours, []string{"OPERON_CACHE=" + filepath.Join(dir, "cache")}, append([]string{b.operon}, s.ours...)}
		them := program{theirs, nil, append([]string{b.kubebuilder}, s.theirs...)}
		if s.theirs == nil {
			them.args = []string{"make", "manifests", "generate"}
		}
		r := &row{}
		if rows != nil {
			r = rows[i]
		}
		if err := r.add(us, them); err != nil {
			return err
		}
	}
	if rows == nil {
		return os.Rename(bin, tools)
	}
	return nil
}

func (u usage) plus(v usage) usage {
	return usage{u.wall + v.wall, u.cpu + v.cpu, max(u.peak, v.peak)}
}
