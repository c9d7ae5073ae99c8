package load

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/gen/load/golist"
)

// List lists the packages with one call of the go command. It returns a [golist.Inexact] if the
// result would differ from what the loader returns.
func (q *Query) List(ctx context.Context) (*golist.Graph, error) {
	if err := q.Listable(); err != nil {
		return nil, err
	}
	if err := q.setFlags(); err != nil {
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
	q.Sort(g)
	return g, nil
}

// Sort sorts the roots in the order of one listing for each folder.
func (q *Query) Sort(g *golist.Graph) {
	g.Roots = sortRoots(g.Roots, q.Folders, func(p *golist.Package) string { return p.Dir }, (*golist.Package).Imported)
}

// flagsWithoutEffect are the flags in GOFLAGS that do not change which files and modules belong to
// a listing.
var flagsWithoutEffect = []string{"modcacherw", "trimpath", "buildvcs", "v", "p", "ldflags", "gcflags", "asmflags"}

// Plain returns a [golist.Inexact] unless the settings of the go command leave it to go.mod which
// packages there are, and name no folder without which the go command fails.
func (q *Query) Plain() error {
	for flag := range strings.FieldsSeq(q.goFlags) {
		name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if !slices.Contains(flagsWithoutEffect, name) && (name != "mod" || value != "readonly") {
			return golist.Inexact("GOFLAGS has " + flag)
		}
	}
	s := q.Settings
	switch {
	case s.work != "" && s.work != "off":
		return golist.Inexact("the module is in the workspace " + s.work)
	case !onDisk(s.cache):
		return golist.Inexact("the folder of GOCACHE does not exist")
	case s.temp != "" && !onDisk(s.temp):
		return golist.Inexact("the folder of GOTMPDIR does not exist")
	}
	return nil
}

// Listable returns a [golist.Inexact] unless one listing can answer the query: it names folders of one
// module, the go command lists packages itself, and the compiler is the standard one. A project within the
// module cache would count as external.
func (q *Query) Listable() error {
	for _, e := range q.Env {
		if driver, ok := strings.CutPrefix(e, "GOPACKAGESDRIVER="); ok && driver != "" && driver != "off" {
			return golist.Inexact("GOPACKAGESDRIVER is set")
		}
	}
	if _, err := environ.LookPath(q.Env, "gopackagesdriver"); err == nil {
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

func isBelow(dir, name string) bool {
	return dir != "" && strings.HasPrefix(name, dir+string(filepath.Separator))
}
