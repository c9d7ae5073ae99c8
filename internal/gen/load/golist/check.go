package golist

import (
	"errors"
	"go/ast"
	"go/types"
	"sync"

	"github.com/operon-dev/operon/internal/gen/depcache"
)

// checked is a package that is type-checked here and not by the loader, so that the cache
// can keep it. Its types are the same in all runs, because they contain only what they
// refer to in other packages. The loader's types also contain what other packages needed
// before.
type checked struct {
	once  sync.Once
	types *types.Package // nil if the loader must check the package
	info  *types.Info
	refs  []*Package
	// direct means that a package of the project refers to it.
	direct bool
}

func (c *checked) fresh(p *Package) depcache.Fresh {
	f := depcache.Fresh{Path: p.ImportPath, Types: c.types, Direct: c.direct}
	for _, ref := range c.refs {
		f.Refs = append(f.Refs, ref.ImportPath)
	}
	return f
}

// check type-checks the packages whose types refer to no root.
func (r *reader) check() map[*Package]*checked {
	all := make(map[*Package]*checked, len(r.refs))
	for p := range r.refs {
		all[p] = &checked{refs: r.refs[p]}
	}
	for p, c := range all {
		for _, ref := range c.refs {
			if !p.external && all[ref] != nil {
				all[ref].direct = true
			}
		}
	}
	var group sync.WaitGroup
	for p := range all {
		group.Go(func() { r.checkOne(p, all) })
	}
	group.Wait()
	return all
}

// checkOne type-checks a package, after the packages that it refers to.
func (r *reader) checkOne(p *Package, all map[*Package]*checked) *types.Package {
	if kept := r.deps.Types(p.ImportPath); kept != nil {
		return kept
	}
	c := all[p]
	c.once.Do(func() {
		if !p.DepOnly {
			return
		}
		visible := map[string]*types.Package{}
		for _, ref := range c.refs {
			if visible[ref.ImportPath] = r.checkOne(ref, all); visible[ref.ImportPath] == nil {
				return
			}
		}
		r.tokens <- struct{}{}
		defer func() { <-r.tokens }()
		if pkg, info := r.typesOf(p, visible); pkg.Complete() {
			c.types, c.info = pkg, info
		}
	})
	return c.types
}

// typesOf type-checks a package. It ignores errors, as the loader does for packages that
// are not roots.
func (r *reader) typesOf(p *Package, visible map[string]*types.Package) (*types.Package, *types.Info) {
	pkg := types.NewPackage(p.ImportPath, p.Name)
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	config := types.Config{
		IgnoreFuncBodies: true,
		Sizes:            types.SizesFor("gc", r.graph.command.Arch),
		Error:            func(error) {},
		Importer: importer(func(path string) (*types.Package, error) {
			imported := p.imports[path]
			switch {
			case path == "unsafe":
				return types.Unsafe, nil
			case imported == nil:
				return nil, errNotImported
			case visible[imported.ImportPath] != nil:
				return visible[imported.ImportPath], nil
			}
			return types.NewPackage(imported.ImportPath, imported.Name), nil
		}),
	}
	_ = types.NewChecker(&config, r.Fset, pkg, info).Files(r.syntax[p])
	return pkg, info
}

var errNotImported = errors.New("not an import of the package")

type importer func(path string) (*types.Package, error)

// Import implements types.Importer.
func (f importer) Import(path string) (*types.Package, error) { return f(path) }
