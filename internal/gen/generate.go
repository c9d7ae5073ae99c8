package gen

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/operon-dev/operon/internal/fault"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/schemapatcher"
)

// generate runs the generators over one set of packages, and returns all they
// write or all that is wrong. Nothing leaves memory.
//
// They share one marker collector and one type checker, whose filters are
// those of all of them together, as within one controller-gen process.
func generate(ctx context.Context, set *packageSet, gens []generator, src *sources) ([]output, error) {
	reg := &markers.Registry{}
	shared := genall.GenerationContext{
		Collector: &markers.Collector{Registry: reg},
		Roots:     set.roots,
		InputRule: src,
	}
	checker := &loader.TypeChecker{NodeFilters: checkFilters(gens)}
	for _, g := range gens {
		if err := g.gen.RegisterMarkers(reg); err != nil {
			return nil, err
		}
	}

	mem := &memory{dir: src.dir, byPath: map[string]int{}}
	var returned []error
	var crash error
	for _, g := range gens {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		say := func(done, total int) { progress(ctx)("generating "+g.name, done, total) }
		say(0, 0)
		c := shared
		if _, ok := g.gen.(genall.NeedsTypeChecking); ok {
			c.Checker = checker
		} else if set.settled {
			continue
		} else if set.marked != nil {
			c.Roots = set.marked
		}
		c.OutputRule = mem.rule(g)
		err, panicked := call(inPlan(g.gen, set, src.dir, say), &c)
		if panicked {
			crash = fault.Failed("go vet ./... may tell what is wrong with the sources", "generator %s: %v", g.name, err)
			break
		}
		if err != nil {
			returned = append(returned, err)
		}
	}
	if mem.err != nil {
		return nil, mem.err
	}
	if problems := collect(set, returned, src); len(problems) > 0 {
		return nil, &fault.Error{Code: fault.CodeFailed, Hint: problems.hint(), Err: problems.essential()}
	}
	if crash != nil {
		return nil, crash
	}
	set.twice = mem.twice
	return mem.finish(), nil
}

// checkFilters are the filters of the generators that need types.
func checkFilters(gens []generator) []loader.NodeFilter {
	var filters []loader.NodeFilter
	for _, g := range gens {
		if c, ok := g.gen.(genall.NeedsTypeChecking); ok {
			filters = append(filters, c.CheckFilter())
		}
	}
	return filters
}

// call runs a generator. The library panics on some packages that do not
// type-check; the errors that it found before are then better than its panic.
func call(g genall.Generator, c *genall.GenerationContext) (err error, panicked bool) {
	defer func() {
		if r := recover(); r != nil {
			err, panicked = fmt.Errorf("panic: %v", r), true
		}
	}()
	return g.Generate(c), false
}

// inPlan is the generator that does the work of g for a plan: one that makes
// paths absolute which it opens past the input rule, or that is our own, and says
// how far it is.
func inPlan(g genall.Generator, set *packageSet, dir string, say func(done, total int)) genall.Generator {
	switch v := g.(type) {
	case crd.Generator:
		return crds{v, set.deps, set.kinds, set.groups, say}
	case schemapatcher.Generator:
		if !filepath.IsAbs(v.ManifestsPath) {
			v.ManifestsPath = filepath.Join(dir, v.ManifestsPath)
		}
		return v
	}
	return g
}
