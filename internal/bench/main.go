//go:build unix

// Command bench measures operon, controller-gen and kubebuilder in alternating runs, and
// writes the results to docs/performance.md, between its two comments. It prints the
// targets next to the results but does not fail. After each run, it verifies that both
// programs wrote the same bytes.
//
// Run it in the root of the repository, after bin/operon is built.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/operon-dev/operon/internal/bench/document"
)

func main() {
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench() error {
	rounds := flag.Int("rounds", 5, "the number of measurements; the results are medians")
	only := flag.String("only", "", "measure only rows that match this expression, and print them: `corpus/state`, journey/")
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
	if err := b.journey(&text); err != nil {
		return err
	}
	if *only != "" {
		fmt.Print(text.String())
		return nil
	}
	return document.Insert("docs/performance.md", "bench", text.String())
}

// bencher contains the programs to measure and a temporary folder for projects.
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
