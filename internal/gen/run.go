package gen

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/gen/incremental/depcache"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/load/golist"
)

// run finds the result of the job on the first of three paths that answers it:
// from the record of the last run, with the packages that changed since; from
// one cheap listing of packages; or from what the loader finds by itself. The
// first two answer only where that is exact, be it with an error in the sources.
// Whatever else is out of the ordinary is the last one's to tell.
func run(ctx context.Context, src *sources, j *job) (*result, error) {
	start := time.Now()
	h := openHistory(j.store, src, j)
	if res, err := h.resume(ctx, src, j); res != nil || err != nil {
		return res, err
	}
	progress(ctx)("listing packages", 0, 0)
	q, err := newQuery(ctx, src, j.paths)
	if err != nil {
		return nil, err
	}
	if res, err := q.fast(ctx, j, h, start); res != nil || err != nil {
		return res, err
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

// resume answers from the record, without asking the go command, where the
// packages are those of the last run. Else it returns nil.
func (h *history) resume(ctx context.Context, src *sources, j *job) (*result, error) {
	r := h.refresh(src, j)
	if r == nil {
		return nil, nil
	}
	if !r.run(ctx) {
		return nil, r.problem
	}
	next := r.next()
	if next == nil {
		return nil, nil
	}
	next.Go = h.last.Go
	r.tree.Fill(next)
	h.keep(next)
	res := r.result(next)
	if res != nil {
		res.inputs = func() ([]string, bool) { return h.query(src).inputs(next.Go.Folders, j.headers(src)) }
	}
	return res, nil
}

// refresh is the work that is left where the packages are those of the last run,
// or nil.
func (h *history) refresh(src *sources, j *job) *refresh {
	if h == nil || h.last == nil {
		return nil
	}
	tree, err := h.last.Look(h.walks, src.changed)
	if err != nil || tree.Again() != nil || !tree.Listing() {
		return nil
	}
	q := h.query(src)
	g, err := q.Restore(h.last.Packages)
	if err != nil {
		return nil
	}
	r := &refresh{src: src, job: j, library: q.newLibrary(j, h.identity()), resumed: true, disk: look(src, h.last.Outputs())}
	r.past = newPast(h.last, tree, g, r.disk.isRight)
	return r
}

// fast answers from one cheap listing, or returns nil.
func (q *query) fast(ctx context.Context, j *job, h *history, start time.Time) (*result, error) {
	var tree *record.Tree
	if h != nil {
		tree, _ = h.last.Look(h.walks, q.src.changed) // nil with an error
	}
	g := q.list(ctx)
	if g == nil {
		return nil, nil
	}
	// Of a plan, nobody knows yet whether it will be applied.
	changing, outside, known := q.outside(g.Folders)
	if tree != nil && tree.Add(changing, outside) != nil {
		tree = nil
	}
	ids := depcache.NewIdentities(q.settings.root, q.settings.modCache, j.store)
	r := &refresh{src: q.src, job: j, library: q.newLibrary(j, g.Identity(ids.Of))}
	answer := q.answer(g.Folders)
	res, next := r.all(ctx, g, tree, h, answer)
	if res == nil {
		return nil, r.problem
	}
	ids.Save()
	if next != nil && known && tree.Still(start) {
		next.Go = answer
		tree.Fill(next)
		h.keep(next)
	}
	res.inputs = func() ([]string, bool) { return q.inputs(g.Folders, j.headers(q.src)) }
	return res, nil
}

// list lists the packages, or returns nil.
func (q *query) list(ctx context.Context) *golist.Graph {
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
	g.Roots = sortRoots(g.Roots, q.together, func(p *golist.Package) string { return p.Dir }, (*golist.Package).Imported)
	return g
}

// listable reports whether one listing answers the query: for folders of one
// module, which the go command itself lists, for the usual compiler. Of a project
// in the module cache, all would count as what never changes.
func (q *query) listable(env []string) bool {
	for _, e := range env {
		if driver, ok := strings.CutPrefix(e, "GOPACKAGESDRIVER="); ok && driver != "" && driver != "off" {
			return false
		}
	}
	if _, err := exec.LookPath("gopackagesdriver"); err == nil {
		return false
	}
	if slices.ContainsFunc(q.Fixed, func(dir string) bool { return isBelow(dir, q.Dir) }) {
		return false
	}
	return len(q.together) > 0 && q.Arch != "" && !strings.Contains(q.goFlags, "-compiler")
}
