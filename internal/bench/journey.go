//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// step is one command of a journey, with the arguments of operon and the command line of the other
// program.
type step struct {
	name         string
	ours, theirs []string
}

// journeyTarget is the target ratio for all steps to a generated project together.
const journeyTarget = 25

// journeySteps returns the steps to a generated project, and those that make what users install.
func journeySteps(kubebuilder string) (develop, deliver []step) {
	same := func(name string, args ...string) step {
		return step{name, args, append([]string{kubebuilder}, args...)}
	}
	kind := []string{"--group", "ship", "--version", "v1", "--kind", "Frigate"}
	return []step{
			same("init", "init", "--domain", "example.org", "--repo", "example.org/fleet"),
			same("create api", append([]string{"create", "api", "--resource", "--controller"}, kind...)...),
			same("create webhook", append([]string{"create", "webhook", "--defaulting", "--programmatic-validation"}, kind...)...),
			{"manifests and generate", []string{"generate"}, []string{"make", "manifests", "generate"}},
		}, []step{
			{"installer", []string{"installer"}, []string{"make", "build-installer"}},
			{"Helm chart", []string{"edit", "--plugins", "helm"}, []string{kubebuilder, "edit", "--plugins", "helm/v2-alpha"}},
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
	develop, deliver := journeySteps(b.kubebuilder)
	steps := append(slices.Clone(develop), deliver...)
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
	total := &row{name: "together", target: journeyTarget}
	for round := range b.rounds {
		var ours, theirs usage
		for _, r := range rows[:len(develop)] {
			ours, theirs = ours.plus(r.ours[round]), theirs.plus(r.theirs[round])
		}
		total.ours, total.theirs = append(total.ours, ours), append(total.theirs, theirs)
	}
	table(text, "From an empty folder", "kubebuilder", append(slices.Clone(rows[:len(develop)]), total))
	table(text, "What users install", "kubebuilder", rows[len(develop):])
	return nil
}

// journeyRound runs the steps once with both programs, and adds the results to rows.
// kubebuilder uses the programs in the folder tools. Without rows, the round creates that
// folder. The projects stay until the end: for some seconds after files are deleted, ext4 creates new
// ones more slowly, which a short command feels more than a long one.
func (b *bencher) journeyRound(steps []step, rows []*row, tools string) error {
	dir, err := os.MkdirTemp(b.temp, "journey-")
	if err != nil {
		return err
	}
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
		them := program{theirs, nil, s.theirs}
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
