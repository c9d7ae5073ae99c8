package gen

import (
	"context"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/gen/list"
)

// run loads the packages of the job and runs its generators: on the fast path,
// which answers only where its answer is exact, or else on the slow one, which
// leaves everything to the loader. Whatever is out of the ordinary, errors
// included, is the slow path's to tell.
func run(ctx context.Context, src *sources, j *job) (*result, error) {
	progress(ctx)("listing packages", 0, 0)
	q, err := newQuery(ctx, src, j.paths)
	if err != nil {
		return nil, err
	}
	if r := q.fast(ctx, j); r != nil {
		return r, nil
	}
	progress(ctx)("loading packages", 0, 0)
	set, err := q.load(ctx)
	if err != nil {
		return nil, err
	}
	outputs, err := generate(ctx, set, j.generators, src)
	if err != nil {
		return nil, err
	}
	return newResult(set, outputs, src), nil
}

// fast runs the generators over the packages of one cheap listing. It returns
// nil where that would not be exact. What turns out to be missing of a kept
// package is read from its sources the next time round, and kept too.
func (q *query) fast(ctx context.Context, j *job) *result {
	g := q.list(ctx)
	if g == nil {
		return nil
	}
	kept := q.newKept(j, g)
	for {
		set, loaded := q.listed(ctx, g, j.generators, kept)
		if loaded == nil {
			return nil
		}
		outputs, err := generate(ctx, set, j.generators, q.src)
		if kept.lacks(set.deps) {
			continue
		}
		if err != nil || loaded.Strayed() {
			return nil
		}
		kept.keep(set.deps, loaded.Fresh)
		res := newResult(set, outputs, q.src)
		res.inputs = func() ([]string, bool) { return q.inputs(set.folders, j.headers(q.src)) }
		return res
	}
}

// list lists the packages, or returns nil.
func (q *query) list(ctx context.Context) *list.Graph {
	if !q.listable(os.Environ()) {
		return nil
	}
	patterns := make([]string, len(q.patterns))
	for i, p := range q.patterns {
		patterns[i] = strings.TrimPrefix(p, patternQuery)
	}
	g, err := q.Run(ctx, patterns)
	if err != nil {
		return nil
	}
	g.Roots = sortRoots(g.Roots, q.together, func(p *list.Package) string { return p.Dir }, (*list.Package).Imported)
	return g
}

// listed loads the packages of a listing, with what the generators will read
// parsed, or kept. It returns nil where that would not be exact.
func (q *query) listed(ctx context.Context, g *list.Graph, gens []generator, k *kept) (*packageSet, *list.Loaded) {
	temp, err := q.src.tempDir()
	if err != nil {
		return nil, nil
	}
	set := &packageSet{fset: token.NewFileSet(), folders: g.Folders}
	set.deps = k.world(set.fset)
	loaded, err := g.Load(ctx, list.Loading{
		Fset:    set.fset,
		Read:    counted(progress(ctx), q.src.read),
		Filters: checkFilters(gens),
		Deps:    set.deps,
		Temp:    filepath.Join(temp, "packages.json"),
	})
	if err != nil {
		return nil, nil
	}
	set.roots = loaded.Roots
	return set, loaded
}

// listable reports whether one listing answers the query: for folders of one
// module, which the go command itself lists, for the usual compiler.
func (q *query) listable(env []string) bool {
	for _, e := range env {
		if driver, ok := strings.CutPrefix(e, "GOPACKAGESDRIVER="); ok && driver != "" && driver != "off" {
			return false
		}
	}
	if _, err := exec.LookPath("gopackagesdriver"); err == nil {
		return false
	}
	return len(q.together) > 0 && q.Arch != "" && !strings.Contains(q.goFlags, "-compiler")
}
