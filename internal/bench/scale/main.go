//go:build linux

// Command scale measures the manager of a scaffolded project with up to 10,000 objects on a
// control plane. It writes the results to docs/scale.md, between its two comments.
//
// Run it in the root of the repository, after bin/operon is built.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/operon-dev/operon/internal/bench/document"
)

func main() {
	if err := scale(); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func scale() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	only := flag.String("only", "", "measure only rows that match this expression, and print them: `size/100`, variant/")
	flag.Parse()
	rows, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	b := &bench{rows: rows}
	if b.temp, err = os.MkdirTemp("", "operon-scale-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.temp) }()
	bin, err := filepath.Abs("bin")
	if err != nil {
		return err
	}
	if err := os.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		return err
	}
	var text strings.Builder
	for _, part := range []func(context.Context, *strings.Builder) error{b.sizes, b.variants} {
		if err := part(ctx, &text); err != nil {
			return err
		}
	}
	if *only != "" {
		fmt.Print(text.String())
		return nil
	}
	return document.Insert("docs/scale.md", "scale", text.String())
}

// bench contains what to measure and a temporary folder.
type bench struct {
	rows    *regexp.Regexp
	temp    string
	project string // the folder of the project that was built last
}
