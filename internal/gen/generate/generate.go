// Package generate runs generators over packages and returns their outputs, or all
// errors in the sources. It has its own generators crd and schemapatch, with the same
// output as controller-gen's: they are faster, and can skip kinds that did not change.
// The other generators are those of controller-tools.
package generate

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/gen/request"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// Task is the input of the generators. All fields except Set are for a run over some of
// the project's packages, and are zero otherwise.
type Task struct {
	Set *load.Set
	// Kinds has the kinds whose CRDs are known, and collects those that the run finds.
	Kinds *Kinds
	// MarkerRoots replaces the roots of Set for generators that read only markers.
	MarkerRoots []*loader.Package
	// SkipMarkers skips the generators that read only markers.
	SkipMarkers bool
}

// Result is the result of the generators for a task.
type Result struct {
	Outputs     []Output
	Groups      map[string]string // the API groups of the roots, by import path; valid even on an error
	Overwritten bool              // a file was written more than once
}

// Run runs generators in memory. The error lists all problems; on an error there are no
// outputs.
//
// The generators share one marker collector and one type checker with the filters of all
// of them, as they do in controller-gen.
func Run(ctx context.Context, t Task, gens []request.Generator, src *overlay.Project) (*Result, error) {
	set := t.Set
	res := &Result{Groups: map[string]string{}}
	reg := &markers.Registry{}
	shared := genall.GenerationContext{
		Collector: &markers.Collector{Registry: reg},
		Roots:     set.Roots,
		InputRule: src,
	}
	checker := &loader.TypeChecker{NodeFilters: CheckFilters(gens)}
	for _, g := range gens {
		if err := g.Gen.RegisterMarkers(reg); err != nil {
			return res, err
		}
	}

	if len(checker.NodeFilters) > 0 {
		for _, root := range set.Roots {
			checker.Check(root)
		}
		if problems := load.Recursive(set, src); len(problems) > 0 {
			return res, problems.Fault(src)
		}
	}

	mem := &memory{dir: src.Dir, byPath: map[string]int{}}
	var returned []error
	var crash error
	for _, g := range gens {
		if ctx.Err() != nil {
			return res, context.Cause(ctx)
		}
		report := func(done, total int) { progress.From(ctx)("generating "+g.Name, done, total) }
		report(0, 0)
		c := shared
		if _, ok := g.Gen.(genall.NeedsTypeChecking); ok {
			c.Checker = checker
		} else if t.SkipMarkers {
			continue
		} else if t.MarkerRoots != nil {
			c.Roots = t.MarkerRoots
		}
		c.OutputRule = mem.rule(g)
		err, panicked := call(inPlan(g.Gen, t, res, src.Dir, report), &c)
		if panicked {
			crash = fault.Failed("run go vet ./... to check the sources", "generator %s: %v", g.Name, err)
			break
		}
		if err != nil {
			returned = append(returned, err)
		}
	}
	if mem.err != nil {
		return res, mem.err
	}
	if problems := load.CollectProblems(set, returned, src); len(problems) > 0 {
		return res, problems.Fault(src)
	}
	if crash != nil {
		return res, crash
	}
	res.Outputs, res.Overwritten = mem.finish(), mem.overwritten
	return res, nil
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

// call runs a generator. The library panics for some packages that do not type-check;
// the errors that it found before are more useful than the panic.
func call(g genall.Generator, c *genall.GenerationContext) (err error, panicked bool) {
	defer func() {
		if r := recover(); r != nil {
			err, panicked = fmt.Errorf("panic: %v", r), true
		}
	}()
	return g.Generate(c), false
}

// inPlan returns the generator for options, in a plan.
func inPlan(o request.Options, t Task, res *Result, dir string, report func(done, total int)) genall.Generator {
	switch o := o.(type) {
	case request.CRD:
		return crdGenerator{o, t.Set.Deps, t.Kinds, res.Groups, report}
	case request.SchemaPatch:
		if !filepath.IsAbs(o.ManifestsPath) { // the generator opens it without the input rule
			o.ManifestsPath = filepath.Join(dir, o.ManifestsPath)
		}
		return schemaPatcher{o}
	}
	return o.(genall.Generator)
}
