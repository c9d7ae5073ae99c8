package generate

import (
	"go/ast"
	"reflect"
	"slices"

	"github.com/operon-dev/operon/internal/gen/request"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// apart changes the context of a generator so that it can run next to others. Packages are safe for concurrent
// use after they were type-checked, except for their errors. So the generator gets copies of the roots. collect
// adds their errors to the roots afterwards. The generator reads the markers of the copies once more, so it gets a
// collector that parses no others than its own.
func apart(c *genall.GenerationContext, g request.Options) (collect func()) {
	own := &markers.Registry{}
	_ = g.RegisterMarkers(own) // did not fail for the shared registry
	c.Collector = &markers.Collector{Registry: own}
	roots, before := c.Roots, make([]int, len(c.Roots))
	c.Roots = make([]*loader.Package, len(roots))
	for i, root := range roots {
		c.Roots[i], before[i] = copyOf(root), len(root.Errors)
	}
	c.Checker = &loader.TypeChecker{NodeFilters: []loader.NodeFilter{func(ast.Node) bool { return false }}}
	return func() {
		for i, root := range roots {
			root.Errors = append(root.Errors, c.Roots[i].Errors[before[i]:]...)
		}
	}
}

// copyOf returns a copy of a package, with errors of its own. No other code may use the package meanwhile.
func copyOf(p *loader.Package) *loader.Package {
	p.Imports() // which the first call computes
	q := new(loader.Package)
	reflect.ValueOf(q).Elem().Set(reflect.ValueOf(p).Elem()) // with the loader, which is not exported
	own := *p.Package
	own.Errors = slices.Clone(own.Errors)
	q.Package = &own
	return q
}
