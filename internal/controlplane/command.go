package controlplane

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
)

// PrintPath is `operon envtest path`: it prints the folder that Store.Path
// finds, with forward slashes (make and sh would eat others), or fails.
func PrintPath(o Options, version string, out io.Writer) error {
	s, err := Open(o)
	if err != nil {
		return err
	}
	dir, err := s.Path(version)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, filepath.ToSlash(dir))
	return err
}

// PrintBuild is `operon envtest build`: it builds what is missing, with progress
// on errs, and prints the folder on out.
func PrintBuild(ctx context.Context, o Options, version string, out, errs io.Writer) error {
	s, err := Open(o)
	if err != nil {
		return err
	}
	progress := func(line string) { _, _ = fmt.Fprintln(errs, line) }
	if dir := s.env.get(AssetsVar); dir != "" {
		progress(fmt.Sprintf("%s=%s is set: tests use that folder and not the one that is built here", AssetsVar, dir))
	}
	dir, err := s.Build(ctx, version, progress)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, filepath.ToSlash(dir))
	return err
}
