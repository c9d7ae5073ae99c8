package golist

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"sync"

	"github.com/operon-dev/operon/internal/gen/incremental/depcache"
	"github.com/operon-dev/operon/internal/gen/load/driver"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// Loading says how a graph becomes the loader's packages.
type Loading struct {
	Fset *token.FileSet
	// Read returns the content of a source file by its absolute path.
	Read func(name string) ([]byte, error)
	// Filters are those of the type checker that will check the roots; without
	// any, only the syntax of the roots is of interest.
	Filters []loader.NodeFilter
	// Broken is whether to load packages that have syntax errors: they get the errors
	// and are without syntax, as with the loader.
	Broken bool
	// Deps are packages whose sources need not be read. With nil all are.
	Deps *depcache.World
	// Temp is a file to write and to remove at will.
	Temp string
}

// Loaded is packages in the loader's form. They have their syntax, and so has
// every package that the type checker visits from the roots. Of the others only
// those are there, by name alone, that are imported by one of these.
type Loaded struct {
	Roots []*loader.Package
	// Fresh are packages whose types were made of their sources, and that
	// Loading.Deps may keep for another time.
	Fresh []depcache.Fresh
	// Read are all but those by name alone, and which packages the types of each
	// that has syntax refer to.
	Read map[*Package][]*Package

	names []*loader.Package // packages by name alone
}

// Strayed reports whether somebody asked for the syntax of a package that is
// there by its name alone, and got nothing.
func (l *Loaded) Strayed() bool {
	for _, p := range l.names {
		if p.Syntax != nil || p.TypesInfo != nil {
			return true
		}
	}
	return false
}

// Load parses the packages and hands them to the loader. A file that does not
// parse, unless Loading.Broken says otherwise, or an import that is not there, is
// [ErrInexact].
func (g *Graph) Load(ctx context.Context, how Loading) (*Loaded, error) {
	r := newReader(g, how)
	for needed := g.Roots; ; {
		if !r.readAll(needed) {
			return nil, ErrInexact
		}
		var made map[*Package]*checked
		var unreadable []string
		var group sync.WaitGroup
		if how.Deps != nil {
			group.Go(func() { // while another process answers
				if unreadable = how.Deps.Read(); len(unreadable) == 0 {
					made = r.check()
				}
			})
		}
		roots, err := g.replay(ctx, how, r.syntax)
		group.Wait()
		if err != nil {
			return nil, err
		}
		if needed = r.forget(unreadable); len(needed) == 0 {
			return adorn(roots, r, made), nil
		}
	}
}

// replay makes the loader's packages of packages with syntax, and of those in
// their stead.
func (g *Graph) replay(ctx context.Context, how Loading, syntax map[*Package][]*ast.File) ([]*loader.Package, error) {
	if err := g.write(how.Temp, syntax); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	roots, err := loader.LoadRootsWithConfig(&packages.Config{
		Context: ctx,
		Dir:     g.command.Dir,
		Env:     append(os.Environ(), "GOPACKAGESDRIVER="+self),
		Fset:    how.Fset,
	}, driver.Pattern(how.Temp))
	if err != nil {
		return nil, fmt.Errorf("replay packages: %w", err)
	}
	return roots, nil
}

// write writes the packages with syntax, those in their stead, and those that
// the former import, as the answer of a driver.
func (g *Graph) write(file string, syntax map[*Package][]*ast.File) error {
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
					continue // nobody knows what a kept package imports beside these
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
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// named is p in the driver's form, with its name alone.
func (p *Package) named() *packages.Package {
	return &packages.Package{ID: p.ImportPath, PkgPath: p.ImportPath, Name: p.Name, Imports: map[string]*packages.Package{}}
}

// adorn gives the loader's packages what a driver cannot hand over.
func adorn(roots []*loader.Package, r *reader, checked map[*Package]*checked) *Loaded {
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
