package load

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/load/golist"
)

// List lists the packages with one call of the go command. ok is false if the result
// would differ from that of the loader.
func (q *Query) List(ctx context.Context) (g *golist.Graph, ok bool) {
	if !q.listable(os.Environ()) {
		return nil, false
	}
	patterns := make([]string, len(q.patterns))
	for i, p := range q.patterns {
		patterns[i] = strings.TrimPrefix(p, patternQuery)
	}
	g, err := q.Run(ctx, patterns)
	if err != nil {
		return nil, false
	}
	g.Roots = sortRoots(g.Roots, q.Folders, func(p *golist.Package) string { return p.Dir }, (*golist.Package).Imported)
	return g, true
}

// listable reports whether one listing can answer the query: it names folders of one
// module, the go command lists packages itself, and the compiler is the standard one.
// A project within the module cache would count as external.
func (q *Query) listable(env []string) bool {
	for _, e := range env {
		if driver, ok := strings.CutPrefix(e, "GOPACKAGESDRIVER="); ok && driver != "" && driver != "off" {
			return false
		}
	}
	if _, err := exec.LookPath("gopackagesdriver"); err == nil {
		return false
	}
	if slices.ContainsFunc(q.External, func(dir string) bool { return isBelow(dir, q.Dir) }) {
		return false
	}
	return len(q.Folders) > 0 && q.Arch != "" && !strings.Contains(q.goFlags, "-compiler")
}
