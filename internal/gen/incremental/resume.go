package incremental

import (
	"context"
	"time"

	"github.com/operon-dev/operon/internal/gen/incremental/depcache"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
)

// Resume generates for what changed since the recorded run, without running the go
// command. ok is false if there is no record, or if the list of packages may have
// changed. err has the errors in the sources.
func (h *History) Resume(ctx context.Context, src *overlay.Project, j *request.Job) (res *output.Result, ok bool, err error) {
	u, ok := h.resumable(src, j)
	if !ok {
		return nil, false, nil
	}
	a, ok, err := u.Run(ctx)
	if !ok {
		return nil, false, err
	}
	next, ok := u.newRecord(a)
	if !ok {
		return nil, false, nil
	}
	next.Go = h.last.Go
	u.tree.Fill(next)
	h.keep(next)
	if res, ok = u.finish(a, next); !ok {
		return nil, false, nil
	}
	res.Inputs = func() ([]string, bool) {
		return load.RecordedQuery(src, next.Go).Inputs(next.Go.Folders, j.Headers(src))
	}
	return res, true, nil
}

// resumable returns the update from the recorded run. ok is false if there is no
// record, or if the list of packages may have changed.
func (h *History) resumable(src *overlay.Project, j *request.Job) (u *update, ok bool) {
	if h == nil || h.last == nil {
		return nil, false
	}
	tree, err := h.last.Look(h.walks, src.Changed)
	if err != nil || tree.Again() != nil || !tree.Listing() {
		return nil, false
	}
	q := load.RecordedQuery(src, h.last.Go)
	g, err := q.Restore(h.last.Packages)
	if err != nil {
		return nil, false
	}
	u = newUpdate(src, j, newLibrary(q.Arch, j, h.identity()), h.last, tree, g)
	u.partial = true
	return u, true
}

// List generates from one listing by the go command, for what changed since the
// recorded run, or for everything if there is no usable record. ok is false if the
// listing cannot answer the query exactly. err has the errors in the sources. start is
// the time when the run started. h may be nil.
func (h *History) List(ctx context.Context, q *load.Query, j *request.Job, start time.Time) (res *output.Result, ok bool, err error) {
	var last *record.Record
	var tree *record.Tree
	if h != nil {
		last = h.last
		tree, _ = last.Look(h.walks, q.Project.Changed) // nil on an error
	}
	g, ok := q.List(ctx)
	if !ok {
		return nil, false, nil
	}
	// It is not known yet whether the plan will be applied.
	changing, outside, known := q.Surroundings(g.Folders)
	if tree != nil && tree.Add(changing, outside) != nil {
		tree = nil
	}
	ids := depcache.NewIdentities(q.Settings.Root, q.Settings.ModCache, j.Store)
	library := newLibrary(q.Arch, j, g.Identity(ids.Of))
	answer := q.Answer(g.Folders)
	res, next, ok, err := updateSince(ctx, q.Project, j, library, usable(last, tree, g, library, answer), tree, g)
	if !ok {
		return nil, false, err
	}
	ids.Save()
	if next != nil && known && tree.Still(start) {
		next.Go = answer
		tree.Fill(next)
		h.keep(next)
	}
	res.Inputs = func() ([]string, bool) { return q.Inputs(g.Folders, j.Headers(q.Project)) }
	return res, true, nil
}

// usable returns last if the answers of the go command and the external packages are the
// same as then, and nil otherwise.
func usable(last *record.Record, tree *record.Tree, g *golist.Graph, l *library, answer record.Go) *record.Record {
	if tree != nil && last != nil && last.Go.Arch == answer.Arch && last.Go.Flags == answer.Flags && sameDependencies(last, g, l) {
		return last
	}
	return nil
}

// updateSince generates for what changed since the last run. It generates for everything
// if last is nil, or if the result for the changes cannot be recorded exactly.
func updateSince(ctx context.Context, src *overlay.Project, j *request.Job, l *library, last *record.Record, tree *record.Tree, g *golist.Graph) (res *output.Result, next *record.Record, ok bool, err error) {
	for {
		u := newUpdate(src, j, l, last, tree, g)
		a, ok, err := u.Run(ctx)
		if !ok {
			return nil, nil, false, err
		}
		next, exact := u.newRecord(a)
		if exact || last == nil {
			res, ok := u.finish(a, next)
			return res, next, ok, nil
		}
		last = nil
	}
}
