package load

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/load/golist"
)

// List lists the packages with one call of the go command. It returns a [golist.Inexact] if the
// result would differ from that of the loader.
func (q *Query) List(ctx context.Context) (*golist.Graph, error) {
	if err := q.listable(os.Environ()); err != nil {
		return nil, err
	}
	patterns := make([]string, len(q.patterns))
	for i, p := range q.patterns {
		patterns[i] = strings.TrimPrefix(p, patternQuery)
	}
	g, err := q.Run(ctx, patterns)
	if err != nil {
		return nil, err
	}
	g.Roots = sortRoots(g.Roots, q.Folders, func(p *golist.Package) string { return p.Dir }, (*golist.Package).Imported)
	return g, nil
}

// listable returns a [golist.Inexact] unless one listing can answer the query: it names folders
// of one module, the go command lists packages itself, and the compiler is the standard one.
// A project within the module cache would count as external.
func (q *Query) listable(env []string) error {
	for _, e := range env {
		if driver, ok := strings.CutPrefix(e, "GOPACKAGESDRIVER="); ok && driver != "" && driver != "off" {
			return golist.Inexact("GOPACKAGESDRIVER is set")
		}
	}
	if _, err := exec.LookPath("gopackagesdriver"); err == nil {
		return golist.Inexact("PATH has a program gopackagesdriver")
	}
	if slices.ContainsFunc(q.External, func(dir string) bool { return isBelow(dir, q.Dir) }) {
		return golist.Inexact("the project is in the module cache or in GOROOT")
	}
	switch {
	case len(q.Folders) == 0:
		return golist.Inexact(q.several)
	case q.Arch == "":
		return golist.Inexact("go env fails")
	case strings.Contains(q.goFlags, "-compiler"):
		return golist.Inexact("GOFLAGS has -compiler")
	}
	return nil
}
