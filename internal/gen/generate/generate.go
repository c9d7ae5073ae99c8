// Package generate runs generators over packages and returns their outputs, or all
// errors in the sources. The generators come from controller-tools. It calls the parts of crd itself,
// to skip kinds that did not change.
package generate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/scaffold"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/schemapatcher"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// Task is the input of the generators. All fields except Set are for a run over some of
// the project's packages, and are zero otherwise.
type Task struct {
	Set *load.Set
	// Kinds has the kinds whose CRDs are known, and collects those that the run finds. With it, deepcopy code is
	// generated next to the other outputs, and an error may not have all problems.
	Kinds *Kinds
	// MarkerRoots returns the roots for generators that read only markers, instead of the roots of Set. If needed is
	// false, these generators do not run. Run calls it after it has type-checked the packages.
	MarkerRoots func() (roots []*loader.Package, needed bool, err error)
}

// Result is the result of the generators for a task.
type Result struct {
	Outputs     []Output
	Groups      map[string]string  // the API groups of the roots, by import path; valid even on an error
	Overwritten bool               // a file was written more than once
	Warnings    []scaffold.Warning // about CRDs
}

// Run runs generators in memory. The error lists all problems; on an error there are no
// outputs.
//
// The generators share one marker collector and one type checker with the filters of all
// of them, as they do in controller-gen. They run one after the other, except for object: see [Task].
func Run(ctx context.Context, t Task, gens []request.Generator, src *overlay.Project) (*Result, error) {
	set := t.Set
	res := &Result{Groups: map[string]string{}}
	reg := &markers.Registry{}
	shared := genall.GenerationContext{
		Collector: &markers.Collector{Registry: reg},
		Roots:     set.Roots,
		InputRule: src,
		Checker:   &loader.TypeChecker{NodeFilters: CheckFilters(gens)},
	}
	for _, g := range gens {
		if err := g.Gen.RegisterMarkers(reg); err != nil {
			return res, err
		}
	}

	if len(shared.Checker.NodeFilters) > 0 {
		for _, root := range set.Roots {
			shared.Checker.Check(root)
		}
		if problems := load.Recursive(set, src); len(problems) > 0 {
			return res, problems.Fault(src)
		}
	}

	markerRoots, needed := set.Roots, true
	if t.MarkerRoots != nil {
		var err error
		if markerRoots, needed, err = t.MarkerRoots(); err != nil {
			return res, err
		}
	}
	if !needed {
		gens = slices.DeleteFunc(slices.Clone(gens), onlyMarkers)
	}
	runs := runAll(ctx, t, gens, shared, markerRoots, res, src)
	if ctx.Err() != nil {
		return res, context.Cause(ctx)
	}
	return res, res.add(runs, set, src)
}

// onlyMarkers reports whether a generator reads only markers, no types.
func onlyMarkers(g request.Generator) bool {
	_, types := g.Gen.(genall.NeedsTypeChecking)
	return !types
}

// runAll runs generators until one of them crashes or the context ends. shared is the context of those that need
// types.
func runAll(
	ctx context.Context, t Task, gens []request.Generator, shared genall.GenerationContext,
	markerRoots []*loader.Package, res *Result, src *overlay.Project,
) []*run {
	var runs, next []*run
	var group sync.WaitGroup
	for _, g := range gens {
		r := &run{name: g.Name, memory: newMemory(src.Dir), context: shared}
		if onlyMarkers(g) {
			r.context.Checker, r.context.Roots = nil, markerRoots
		}
		r.context.OutputRule = r.rule(g)
		report := func(done, total int) { progress.From(ctx)("generating "+g.Name, done, total) }
		r.generator = inPlan(g.Gen, t, res, src, report)
		runs = append(runs, r)
		if t.Kinds != nil && g.Name == "object" {
			r.collect = apart(&r.context, g.Gen)
			group.Go(r.call)
		} else {
			next = append(next, r)
		}
	}
	for _, r := range next {
		progress.From(ctx)("generating "+r.name, 0, 0)
		if r.call(); r.crash != nil || ctx.Err() != nil {
			break
		}
	}
	group.Wait()
	return runs
}

// add adds the outputs of all runs, or returns what the runs reported.
func (res *Result) add(runs []*run, set *load.Set, src *overlay.Project) error {
	mem := newMemory(src.Dir)
	var returned []error
	var crash error
	for _, r := range runs {
		mem.add(r.memory)
		if r.collect != nil {
			r.collect()
		}
		if r.err != nil {
			returned = append(returned, r.err)
		}
		if r.crash != nil && crash == nil {
			crash = fault.Failed("run go vet ./... to check the sources", "generator %s: %v", r.name, r.crash)
		}
	}
	if mem.err != nil {
		return mem.err
	}
	if problems := load.CollectProblems(set, returned, src); len(problems) > 0 {
		return problems.Fault(src)
	}
	if crash != nil {
		if problems := load.ErrorFields(set, src); len(problems) > 0 {
			return problems.Fault(src)
		}
		return crash
	}
	res.Outputs, res.Overwritten = mem.finish(), mem.overwritten
	return nil
}

// run is a run of one generator.
type run struct {
	name      string
	generator genall.Generator
	context   genall.GenerationContext
	*memory
	collect    func() // see apart; nil if the generator does not run next to others
	err, crash error
}

// call runs the generator. The library panics for some packages that do not type-check;
// the errors that it found before are more useful than the panic.
func (r *run) call() {
	defer func() {
		if p := recover(); p != nil {
			r.crash = fmt.Errorf("panic: %v", p)
		}
	}()
	r.err = r.generator.Generate(&r.context)
}

// CheckFilters returns the filters of the generators that need types.
func CheckFilters(gens []request.Generator) []loader.NodeFilter {
	var filters []loader.NodeFilter
	for _, g := range gens {
		if c, ok := g.Gen.(genall.NeedsTypeChecking); ok {
			filters = append(filters, c.CheckFilter())
		}
	}
	return filters
}

// inPlan returns the generator for options, in a plan.
func inPlan(o request.Options, t Task, res *Result, src *overlay.Project, report func(done, total int)) genall.Generator {
	switch o := o.(type) {
	case crd.Generator:
		warn := func(w scaffold.Warning) { res.Warnings = append(res.Warnings, w) }
		return crdGenerator{Generator: o, set: t.Set, known: t.Kinds, groups: res.Groups, report: report, warn: warn, src: src}
	case deepcopy.Generator:
		return objectGenerator{o, src}
	case schemapatcher.Generator:
		if !filepath.IsAbs(o.ManifestsPath) { // the generator opens it without the input rule
			o.ManifestsPath = filepath.Join(src.Dir, o.ManifestsPath)
		}
		return schemaPatcher{o}
	case webhook.Generator:
		return webhookGenerator{o}
	}
	return o.(genall.Generator)
}
