package golist

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/operon-dev/operon/internal/gen/depcache"
	"github.com/operon-dev/operon/internal/gen/stripbodies"
)

// reader parses packages before the type checker needs them: the roots, the packages
// that their types refer to, and so on, except for cached ones. Parsing takes most of
// the time of loading. reader uses all processors, and does not create the objects that
// only the deprecated part of go/ast needs.
type reader struct {
	Loading
	graph *Graph
	deps  *depcache.World

	group  sync.WaitGroup
	tokens chan struct{} // limits how many goroutines parse at the same time

	mu     sync.Mutex
	syntax map[*Package][]*ast.File // nil while it is being parsed, and for a kept package
	refs   map[*Package][]*Package  // what the types of a package with syntax refer to
	broken map[*Package][]error     // of packages with syntax errors
	failed error                    // an Inexact, or nil
}

func newReader(g *Graph, how Loading) *reader {
	return &reader{Loading: how, graph: g, deps: how.Deps, tokens: make(chan struct{}, runtime.GOMAXPROCS(0)),
		syntax: map[*Package][]*ast.File{}, refs: map[*Package][]*Package{}, broken: map[*Package][]error{}}
}

// readAll reads packages, and all packages that the type checker will visit from there.
// It returns false if the result is not exact.
func (r *reader) readAll(needed []*Package) bool {
	for len(needed) > 0 {
		for _, p := range needed {
			r.need(p)
		}
		r.group.Wait()
		if r.failed != nil {
			return false
		}
		needed = r.forget(r.deps.Part(func(path string) bool { return r.syntax[r.graph.byPath[path]] != nil }))
	}
	return true
}

// rootSyntax returns the syntax of the roots after readAll.
func (r *reader) rootSyntax() [][]*ast.File {
	all := make([][]*ast.File, len(r.graph.Roots))
	for i, root := range r.graph.Roots {
		all[i] = r.syntax[root]
	}
	return all
}

// forget returns packages that the cache no longer has, and marks them as not needed.
func (r *reader) forget(paths []string) []*Package {
	all := make([]*Package, len(paths))
	for i, path := range paths {
		all[i] = r.graph.byPath[path]
		delete(r.syntax, all[i])
	}
	return all
}

// need starts to read p and the packages that it refers to, unless that was done before.
func (r *reader) need(p *Package) {
	r.mu.Lock()
	_, known := r.syntax[p]
	if !known {
		r.syntax[p] = nil
	}
	r.mu.Unlock()
	if known {
		return
	}
	r.group.Go(func() {
		if also, ok := r.deps.Use(p.ImportPath); ok {
			for _, path := range also {
				if q := r.graph.byPath[path]; q != nil {
					r.need(q)
				}
			}
			return
		}
		files, refs, err := r.parse(p)
		r.mu.Lock()
		r.syntax[p], r.refs[p] = files, refs
		if err != nil && r.failed == nil {
			r.failed = err
		}
		r.mu.Unlock()
		for _, ref := range refs {
			r.need(ref)
		}
	})
}

// parse returns the syntax of a package, and the packages that its types refer to. It returns
// an [Inexact] on any error.
func (r *reader) parse(p *Package) (files []*ast.File, refs []*Package, err error) {
	switch {
	case p.unread:
		return nil, nil, Inexact("the last run did not read " + p.ImportPath)
	case len(p.SwigFiles)+len(p.SwigCXXFiles) > 0:
		return nil, nil, Inexact(p.ImportPath + " uses SWIG")
	}
	names := p.files()
	files, errs := r.parseFiles(append(names, p.join(p.CgoFiles)...), p.DepOnly && p.external)
	if len(errs) > 0 && r.breaks(p, errs) {
		return []*ast.File{}, nil, nil
	}
	if len(errs) > 0 {
		return nil, nil, Inexact("a file of " + p.ImportPath + " cannot be parsed")
	}
	translated := files[len(names):]
	files = files[:len(names):len(names)]
	if len(translated) > 0 && !removable(translated, files) {
		return nil, nil, Inexact("types may need the files of " + p.ImportPath + " that cgo translates")
	}
	if len(r.Filters) == 0 {
		return files, nil, nil
	}
	for _, f := range files {
		more, ok := r.refsIn(p, f)
		if !ok {
			return nil, nil, Inexact("a type of " + p.ImportPath + " refers to an unknown package")
		}
		refs = append(refs, more...)
	}
	return files, refs, nil
}

// breaks records the errors of a package if they are syntax errors and Loading.Broken
// allows them.
func (r *reader) breaks(p *Package, errs []error) bool {
	for _, err := range errs {
		if list := (scanner.ErrorList)(nil); !r.Broken || !errors.As(err, &list) {
			return false
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken[p] = errs
	return true
}

// parseFiles parses files. With bare, it leaves out function bodies, and methods that no generator looks for.
func (r *reader) parseFiles(names []string, bare bool) (files []*ast.File, errs []error) {
	files, all := make([]*ast.File, len(names)), make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() {
			r.tokens <- struct{}{}
			defer func() { <-r.tokens }()
			content, err := r.Read(name)
			if err != nil {
				all[i] = err
				return
			}
			if bare {
				content = stripbodies.Blank(content)
			}
			files[i], all[i] = parser.ParseFile(r.Fset, name, content, parser.AllErrors|parser.ParseComments|parser.SkipObjectResolution)
		})
	}
	group.Wait()
	return files, slices.DeleteFunc(all, func(err error) bool { return err == nil })
}

// refsIn returns the packages that the type checker checks before a file: those that it
// imports with a dot, and those whose names appear in types that pass a filter. ok is
// false if the type checker would report an error.
func (r *reader) refsIn(p *Package, f *ast.File) (refs []*Package, ok bool) {
	byName := map[string]*Package{}
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		imported := p.imports[path]
		switch {
		case err != nil || imported == nil:
			return nil, false
		case spec.Name == nil:
			byName[imported.Name] = imported
		case spec.Name.Name == ".":
			refs = append(refs, imported)
		default:
			byName[spec.Name.Name] = imported
		}
	}
	v := &refVisitor{reader: r, byName: byName, refs: refs, ok: true}
	for _, decl := range f.Decls {
		if d, isGen := decl.(*ast.GenDecl); isGen {
			for _, spec := range d.Specs {
				if t, isType := spec.(*ast.TypeSpec); isType {
					ast.Walk(v, t.Type)
				}
			}
		}
	}
	return v.refs, v.ok
}

type refVisitor struct {
	*reader
	byName map[string]*Package
	refs   []*Package
	ok     bool
}

// Visit implements ast.Visitor. It must visit the same nodes as the loader's
// referenceCollector.
func (v *refVisitor) Visit(node ast.Node) ast.Visitor {
	if !v.passes(node) {
		return nil
	}
	switch n := node.(type) {
	case *ast.Ident:
		return nil
	case *ast.SelectorExpr:
		x, isName := n.X.(*ast.Ident)
		if !isName {
			return v
		}
		if ref := v.byName[x.Name]; ref != nil {
			v.refs = append(v.refs, ref)
		} else {
			v.ok = v.ok && v.Broken
		}
		return nil
	}
	return v
}

func (v *refVisitor) passes(node ast.Node) bool {
	for _, f := range v.Filters {
		if f(node) {
			return true
		}
	}
	return false
}
