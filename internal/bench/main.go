//go:build unix

// Command bench measures operon beside controller-gen and kubebuilder, in runs
// that take turns, and writes what it found into docs/performance.md, between
// the two comments there. It judges nothing: the targets stand beside. That both
// wrote the same bytes is looked at after every single run.
//
// Started from the root of the repository, with bin/operon built.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const document = "docs/performance.md"

func main() {
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench() error {
	rounds := flag.Int("rounds", 5, "how often everything is measured; medians are told")
	only := flag.String("only", "", "measure alone what this expression matches, and print it: `corpus/state`, journey/, hooks/")
	flag.Parse()
	rows, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	b, err := newBench(*rounds, rows)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.temp) }()
	var text strings.Builder
	b.describe(&text)
	for _, c := range corpora {
		if err := b.corpus(&text, c); err != nil {
			return err
		}
	}
	if err := b.growth(&text); err != nil {
		return err
	}
	if err := b.journey(&text); err != nil {
		return err
	}
	if err := b.hooks(&text); err != nil {
		return err
	}
	if *only != "" {
		fmt.Print(text.String())
		return nil
	}
	return insert(document, text.String())
}

// bencher has the programs that it measures, and a folder for what they work on.
type bencher struct {
	rounds                             int
	rows                               *regexp.Regexp
	temp                               string
	operon, controllerGen, kubebuilder string
}

func newBench(rounds int, rows *regexp.Regexp) (*bencher, error) {
	b := &bencher{rounds: max(rounds, 1), rows: rows}
	var err error
	if b.operon, err = filepath.Abs("bin/operon"); err != nil {
		return nil, err
	}
	for name, program := range map[string]*string{"controller-gen": &b.controllerGen, "kubebuilder": &b.kubebuilder} {
		out, err := goCommand("testdata/peers", "tool", "-n", name)
		if err != nil {
			return nil, err
		}
		*program = strings.TrimSpace(out)
	}
	b.temp, err = os.MkdirTemp("", "operon-bench-")
	return b, err
}

const (
	from = "<!-- measured by make bench -->\n"
	to   = "<!-- end -->\n"
)

// insert puts the text between the comments of a document.
func insert(name, text string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	head, rest, begins := strings.Cut(string(content), from)
	_, tail, ends := strings.Cut(rest, to)
	if !begins || !ends {
		return fmt.Errorf("%s has no place for the measurements: %q to %q", name, strings.TrimSpace(from), strings.TrimSpace(to))
	}
	return os.WriteFile(name, []byte(head+from+"\n"+text+"\n"+to+tail), 0o644)
}
