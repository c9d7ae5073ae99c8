package incremental

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/gen/incremental/depcache"
	"github.com/operon-dev/operon/internal/gen/incremental/listing"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
)

// Resume generates for what changed since the recorded run, without running the go
// command. It returns a [golist.Inexact] if there is no record, or if the list of packages may
// have changed. Any other error has the errors in the sources.
func (h *History) Resume(ctx context.Context, src *overlay.Project, j *request.Job) (*output.Result, error) {
	u, err := h.choose(src, j)
	if err != nil {
		return nil, err
	}
	a, err := u.Run(ctx)
	if err != nil {
		return nil, err
	}
	next, err := u.newRecord(a)
	if err != nil {
		return nil, err
	}
	next.Go = h.last.Go
	u.tree.Fill(next)
	res, err := u.finish(a, next)
	if err != nil {
		return nil, err
	}
	h.keep(next)
	res.Inputs = func() ([]string, bool) {
		return load.RecordedQuery(src, j.Paths, j.Environ, j.Program, next.Go).Inputs(next.Go.Folders, j.Headers(src))
	}
	return res, nil
}

// choose returns the update from the recorded run of the job. If there is none, or if packages
// changed since then, a run with other arguments may be a better start, whose record becomes that of
// the job. It returns a [golist.Inexact] if neither is usable.
func (h *History) choose(src *overlay.Project, j *request.Job) (*update, error) {
	if h.none != "" {
		return nil, h.none
	}
	best, err := h.resumable(h.last, src, j)
	if err == nil && len(best.dirty) == 0 {
		return best, nil
	}
	for _, part := range h.parts(src) {
		h.last = cmp.Or(h.last, part)
		if u, other := h.resumable(part, src, j); other == nil && (err != nil || len(u.dirty) < len(best.dirty)) {
			best, err, h.last = u, nil, part
		}
	}
	return best, err
}

// resumable returns the update from a recorded run. It returns a [golist.Inexact] if there is
// no record, or if the list of packages may have changed.
func (h *History) resumable(last *record.Record, src *overlay.Project, j *request.Job) (*update, error) {
	if last == nil {
		return nil, golist.Inexact("no run with these arguments and files is recorded")
	}
	var d *disk
	var comparing sync.WaitGroup
	comparing.Go(func() { d = compareOutputs(src, last) }) // in vain if the list of packages changed, which is rare
	tree, err := last.Look(h.walks, src.Changed)
	if err == nil {
		err = tree.Again()
	}
	comparing.Wait()
	if err != nil {
		return nil, golist.Inexact(err.Error())
	}
	if !tree.Listing() {
		return nil, golist.Inexact("the list of packages may have changed since the last run")
	}
	q := load.RecordedQuery(src, j.Paths, j.Environ, j.Program, last.Go)
	g, err := q.Restore(last.Packages)
	if err != nil {
		return nil, err
	}
	u := newUpdate(src, j, newLibrary(q.Arch, j, identity(last)), last, d, tree, g)
	u.partial = true
	return u, nil
}

// ListFolders generates from the folders of the project and an earlier listing of its
// dependencies, for what changed since the recorded run, or for everything if there is no usable
// record. It returns a [golist.Inexact] if the go command may list other packages. Any other error
// has the errors in the sources. start is the time when the run started.
func (h *History) ListFolders(ctx context.Context, q *load.Query, j *request.Job, start time.Time) (*output.Result, error) {
	g, err := listing.List(q, j.Store)
	if err != nil {
		return nil, err
	}
	return h.generate(ctx, q, j, g, start)
}

// List is ListFolders, but generates from one listing by the go command. It returns a
// [golist.Inexact] if the listing cannot answer the query exactly.
func (h *History) List(ctx context.Context, q *load.Query, j *request.Job, start time.Time) (*output.Result, error) {
	g, err := q.List(ctx)
	if err != nil {
		return nil, err
	}
	listing.Keep(q, j.Store, g)
	return h.generate(ctx, q, j, g, start)
}

func (h *History) generate(ctx context.Context, q *load.Query, j *request.Job, g *golist.Graph, start time.Time) (*output.Result, error) {
	last := h.last
	var tree *record.Tree
	if h.none == "" {
		tree, _ = last.Look(h.walks, q.Project.Changed) // nil on an error
	}
	// It is not known yet whether the plan will be applied.
	changing, outside, known := q.Surroundings(g.Folders)
	if tree != nil && tree.Add(changing, outside) != nil {
		tree = nil
	}
	ids := depcache.NewIdentities(q.Settings.Root, q.Settings.ModCache, j.Store)
	ids.Prebuilt = true
	library := newLibrary(q.Arch, j, g.Identity(ids.Of))
	answer := q.Answer(g.Folders)
	res, next, err := updateSince(ctx, q.Project, j, library, usable(last, tree, g, library, answer), tree, g)
	if err != nil {
		return nil, err
	}
	ids.Save()
	switch {
	case h.none != "":
		res.Unrecorded = string(h.none)
	case next == nil: // finish says why
	case !known:
		res.Unrecorded = "the files that go list reads are unknown"
	case !tree.Still(start):
		res.Unrecorded = "files changed during the run"
	default:
		next.Go = answer
		tree.Fill(next)
		h.keep(next)
	}
	res.Inputs = func() ([]string, bool) { return q.Inputs(g.Folders, j.Headers(q.Project)) }
	return res, nil
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
func updateSince(ctx context.Context, src *overlay.Project, j *request.Job, l *library, last *record.Record, tree *record.Tree, g *golist.Graph) (*output.Result, *record.Record, error) {
	for {
		u := newUpdate(src, j, l, last, compareOutputs(src, last), tree, g)
		a, err := u.Run(ctx)
		if err != nil {
			return nil, nil, err
		}
		next, inexact := u.newRecord(a)
		if inexact == nil || last == nil {
			res, err := u.finish(a, next)
			if err == nil && inexact != nil {
				res.Unrecorded = inexact.Error()
			}
			return res, next, err
		}
		last = nil
	}
}
