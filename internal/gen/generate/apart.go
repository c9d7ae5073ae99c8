package generate

import (
	"go/ast"
	"reflect"
	"slices"

	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// apart changes the context of a generator so that it can run next to others. Packages are safe for concurrent
// use after they were type-checked, except for their errors. So the generator gets copies of the roots. collect
// adds their errors to the roots afterwards.
func apart(c *genall.GenerationContext) (collect func()) {
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
