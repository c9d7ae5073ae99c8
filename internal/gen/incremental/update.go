package incremental

import (
	"context"
	"errors"
	"fmt"

	"github.com/operon-dev/operon/internal/gen/depcache"
	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/record"
	"github.com/operon-dev/operon/internal/gen/request"
)

// Generate generates for the packages of a listing that changed since the recorded run, or for all of them if there is
// no usable record. It returns a [golist.Inexact] if only the loader gives an exact result. Any other error has the
// errors in the sources.
func Generate(ctx context.Context, q *load.Query, j *request.Job, g *golist.Graph) (*output.Result, error) {
	h := open(q, j)
	ids := depcache.NewIdentities(q.Settings.Root, q.Settings.ModCache)
	l := newLibrary(q.Arch, j, g.Identity(ids.Of))
	last := h.last
	if !sameDependencies(last, g, l) {
		last = &record.Record{}
	}
	res, next, err := updateSince(ctx, q.Project, j, h.none, last, l, g)
	if err != nil {
		return nil, err
	}
	if next != nil {
		h.keep(next)
	}
	res.Inputs = func() ([]string, bool) { return q.Inputs(g.Folders, j.Headers(q.Project)) }
	return res, nil
}

// updateSince generates for what changed since the last run. It generates for everything if the result for the changes
// cannot be recorded exactly. The record is nil if that cannot be recorded either.
func updateSince(ctx context.Context, src *overlay.Project, j *request.Job, none golist.Inexact, last *record.Record, l *library,
	g *golist.Graph) (*output.Result, *record.Record, error) {
	for {
		u := newUpdate(src, j, none, last, l, g)
		a, err := u.Run(ctx)
		if err != nil {
			return nil, nil, err
		}
		next, inexact := u.newRecord(a)
		if inexact != nil && len(last.Units) > 0 {
			last = &record.Record{}
			continue
		}
		res, err := u.finish(a, next)
		if err == nil && inexact != nil {
			res.Unrecorded = inexact.Error()
		}
		return res, next, err
	}
}

// update generates for the packages that changed since the last run.
type update struct {
	*invalidation
	src     *overlay.Project
	Job     *request.Job
	none    golist.Inexact // why the run is not recorded; "" if it is
	Library *library
	disk    *disk
}

// newUpdate compares a listing with the record of the last run.
func newUpdate(src *overlay.Project, j *request.Job, none golist.Inexact, last *record.Record, l *library, g *golist.Graph) *update {
	d := compareOutputs(src, last)
	sources := record.NewSources(src.Changed, src.Read, last)
	return &update{src: src, Job: j, none: none, Library: l, disk: d, invalidation: newInvalidation(last, sources, g, d.isCurrent)}
}

// Run repeats attempts until one affects no package that it did not load. It returns a
// [golist.Inexact] if only another way of loading gives an exact result. Any other error has
// the errors in the sources.
func (u *update) Run(ctx context.Context) (*attempt, error) {
	explain := false // after an error: let the library find all errors
	for {
		a := u.Try(ctx, explain)
		if u.Library.Lacks(a.Set.Deps) {
			continue // the next attempt reads the sources of these packages
		}
		if a.Err != nil && !explain {
			explain = true
			continue
		}
		if a.Err == nil && a.Loaded != nil {
			u.Library.Keep(a.Set.Deps, a.Loaded.Fresh)
		}
		if a.Made != nil && u.addGroups(a.Made.Groups) {
			continue
		}
		if !explain {
			return a, nil
		}
		if problems := (load.Problems)(nil); errors.As(a.Err, &problems) {
			return nil, a.Err
		}
		return nil, golist.Inexact("only the loader can report an error exactly: " + fmt.Sprint(a.Err))
	}
}

// finish returns the result of the whole job after the attempt. next is the new record,
// or nil. It returns a [golist.Inexact] if an output changed on the disk in the meantime.
func (u *update) finish(a *attempt, next *record.Record) (*output.Result, error) {
	res := &output.Result{Outputs: a.Made.Outputs, Warnings: a.Made.Warnings, Matched: len(u.graph.Roots) > 0}
	if next != nil { // the warnings of this attempt are among them
		res.Warnings = nil
		for _, k := range next.Kinds {
			for _, r := range k.Refused {
				res.Warnings = append(res.Warnings, r.Warning)
			}
		}
	}
	if next != nil && !u.addUnchanged(res, next.Outputs()) {
		return nil, golist.Inexact("a generated file changed during the run")
	}
	for _, root := range u.graph.Roots {
		if s, loaded := a.scanned[root.ImportPath]; loaded {
			res.Warnings = append(res.Warnings, s.Warnings...)
		} else {
			res.Warnings = append(res.Warnings, u.units[root.ImportPath].Warnings...)
		}
		if folder, ok := overlay.Rel(u.src.Dir, root.Dir); ok && len(root.GoFiles) > 0 {
			res.Folders = append(res.Folders, folder)
		}
	}
	res.Warnings = output.SortWarnings(res.Warnings)
	return res, nil
}

// addUnchanged adds the outputs that were not generated again. It reads the outputs that
// .operon/generated.json does not list, so that the plan adds them to the list. It returns
// false if one of them changed.
func (u *update) addUnchanged(res *output.Result, outputs []record.Output) bool {
	made := map[string]bool{}
	for _, o := range res.Outputs {
		made[o.Path] = true
	}
	for _, o := range outputs {
		switch {
		case made[o.Path]:
		case u.disk.listed(o):
			res.Unchanged = append(res.Unchanged, o)
		default:
			content, ok := u.disk.content(o)
			if !ok {
				return false
			}
			res.Outputs = append(res.Outputs, generate.Output{Generator: o.Generator, Path: o.Path, Content: content})
		}
	}
	return true
}
