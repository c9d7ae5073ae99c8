package golist

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"sync"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/gen/depcache"
	"github.com/operon-dev/operon/internal/gen/load/driver"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// Loading defines how to create the loader's packages from a graph.
type Loading struct {
	Fset *token.FileSet
	// Read returns the content of a source file by its absolute path.
	Read func(name string) ([]byte, error)
	// Filters are the filters of the type checker that will check the roots. Without
	// filters, only the syntax of the roots is needed.
	Filters []loader.NodeFilter
	// Broken allows packages with syntax errors. As with the loader, they get the errors
	// and no syntax.
	Broken bool
	// Deps has cached packages, whose sources are not read. It may be nil.
	Deps *depcache.World
	// Parsed gets the syntax of the roots, in their order, before the types of packages are read. The syntax of a
	// root that does not parse is empty.
	Parsed func(roots [][]*ast.File)
	// Temp is the path of a temporary folder.
	Temp string
}

// Loaded has the loader's packages. The roots and all packages that the type checker
// visits from there have their syntax. The other packages that these import have only a
// name.
type Loaded struct {
	Roots []*loader.Package
	// Fresh are packages that were type-checked from their sources, and that
	// Loading.Deps may store.
	Fresh []depcache.Fresh
	// Read has the packages that have more than a name, with the packages that their
	// types refer to.
	Read map[*Package][]*Package

	names []*loader.Package // packages that have only a name
}

// Strayed reports whether a generator asked for the syntax or the types of a package that
// has only a name.
func (l *Loaded) Strayed() bool {
	for _, p := range l.names {
		if p.Syntax != nil || p.TypesInfo != nil {
			return true
		}
	}
	return false
}

// Load parses the packages and creates the loader's packages from them. It returns
// an [Inexact] if an import is missing, or if a file does not parse and Loading.Broken
// is not set.
func (g *Graph) Load(ctx context.Context, how Loading) (*Loaded, error) {
	r := newReader(g, how)
	parsed := sync.OnceFunc(func() { how.Parsed(r.rootSyntax()) })
	for needed := g.Roots; ; {
		if !r.readAll(needed) {
			return nil, r.failed
		}
		parsed()
		var made map[*Package]*checked
		var unreadable []string
		var group sync.WaitGroup
		if how.Deps != nil {
			group.Go(func() { // while the driver's process runs
				if unreadable = how.Deps.Read(); len(unreadable) == 0 {
					made = r.check()
				}
			})
		}
		roots, err := g.fromDriver(ctx, how, r.syntax)
		group.Wait()
		if err != nil {
			return nil, err
		}
		if needed = r.forget(unreadable); len(needed) == 0 {
			return complete(roots, r, made), nil
		}
	}
}

// fromDriver returns the loader's packages. The loader gets the graph from a driver.
func (g *Graph) fromDriver(ctx context.Context, how Loading, syntax map[*Package][]*ast.File) ([]*loader.Package, error) {
	answer, err := g.answer(syntax)
	if err != nil {
		return nil, err
	}
	d, err := driver.New(how.Temp, g.command.Program, answer)
	if err != nil {
		return nil, err
	}
	roots, err := loader.LoadRootsWithConfig(&packages.Config{
		Context: ctx,
		Dir:     d.Dir,
		Env:     environ.With(g.command.Env, "GOPACKAGESDRIVER="+d.Program),
		Fset:    how.Fset,
	}, d.Pattern)
	if err != nil {
		return nil, fmt.Errorf("load listed packages: %w", err)
	}
	return roots, nil
}

// answer returns the driver's answer: the packages with syntax, cached packages, and the
// names of the other packages that those with syntax import.
func (g *Graph) answer(syntax map[*Package][]*ast.File) ([]byte, error) {
	answer := packages.DriverResponse{Compiler: "gc", Arch: g.command.Arch}
	for _, p := range g.Roots {
		answer.Roots = append(answer.Roots, p.ImportPath)
	}
	named := map[*Package]bool{}
	for p, files := range syntax {
		q := p.named()
		for written, imported := range p.imports {
			if _, known := syntax[imported]; !known {
				if files == nil {
					continue // other imports of a cached package are unknown
				}
				if !named[imported] {
					named[imported] = true
					answer.Packages = append(answer.Packages, imported.named())
				}
			}
			q.Imports[written] = &packages.Package{ID: imported.ImportPath}
		}
		answer.Packages = append(answer.Packages, q)
	}
	return json.Marshal(answer)
}

// named returns p in the driver's form, with only its name.
func (p *Package) named() *packages.Package {
	return &packages.Package{ID: p.ImportPath, PkgPath: p.ImportPath, Name: p.Name, Imports: map[string]*packages.Package{}}
}

// complete adds to the loader's packages what a driver cannot return: syntax and types.
func complete(roots []*loader.Package, r *reader, checked map[*Package]*checked) *Loaded {
	l := &Loaded{Roots: roots, Read: make(map[*Package][]*Package, len(r.syntax))}
	for p := range r.syntax {
		l.Read[p] = r.refs[p]
	}
	seen := map[*loader.Package]bool{}
	var visit func(p *loader.Package)
	visit = func(p *loader.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		q := r.graph.byPath[p.PkgPath]
		files, known := r.syntax[q]
		switch {
		case !known:
			l.names = append(l.names, p)
			return
		case files == nil:
			p.Dir = q.Dir
			r.deps.Preset(p)
		default:
			p.Dir, p.Syntax = q.Dir, files
			p.GoFiles = q.files()
			p.CompiledGoFiles = p.GoFiles
			for _, err := range r.broken[q] {
				p.AddError(err)
			}
			if c := checked[q]; c != nil && c.types != nil {
				p.Types, p.TypesInfo = c.types, c.info
				l.Fresh = append(l.Fresh, c.fresh(q))
			}
		}
		for _, imported := range p.Imports() {
			visit(imported)
		}
	}
	for _, p := range roots {
		visit(p)
	}
	return l
}
