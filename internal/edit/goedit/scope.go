package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Symbol is a name that an imported package declares, or something selected from
// it: {"sigs.k8s.io/controller-runtime", "Log.WithName"}.
type Symbol struct{ Path, Name string }

// Scope tells what code at one place of a file can name. It holds for the file
// as it was when ScopeAt was called.
type Scope struct {
	file *File
	pos  token.Pos
	all  *types.Scope // of the package
	decl ast.Decl     // the declaration around the place; nil: between two
}

// ScopeAt returns the scope at the first of the anchors that the file has, nil
// when it has none of them.
func (f *File) ScopeAt(anchors ...Anchor) *Scope {
	for _, a := range anchors {
		p, ok := a.find(f)
		if !ok {
			continue
		}
		s := &Scope{file: f, pos: f.tok.Pos(p.off), all: f.scope()}
		for _, d := range f.file.Decls {
			if within(d, s.pos) {
				s.decl = d
			}
		}
		return s
	}
	return nil
}

// scope returns the scopes of the file, by Go's own rules. The types of what is
// imported are not known, and need not be.
func (f *File) scope() *types.Scope {
	fset := token.NewFileSet()
	fset.AddExistingFiles(f.tok)
	config := types.Config{FakeImportC: true, Error: func(error) {}}
	pkg, _ := config.Check("", fset, []*ast.File{f.file}, nil) // an error is no news: nothing can be imported
	return pkg.Scope()
}

// Variable reports whether name is a variable at the place: a local one, or one
// that this file declares on package level.
func (s *Scope) Variable(name string) bool {
	_, ok := s.object(name, s.pos).(*types.Var)
	return ok
}

// Knows reports whether name means anything at the place, as far as this file
// tells.
func (s *Scope) Knows(name string) bool { return s.object(name, s.pos) != nil }

// object is what name means at pos; nil: nothing in this file.
func (s *Scope) object(name string, pos token.Pos) types.Object {
	inner := s.all.Innermost(pos)
	if inner == nil {
		return nil
	}
	_, object := inner.LookupParent(name, pos)
	return object
}

// hides reports whether name means something else than an import at the place.
func (s *Scope) hides(name string) bool {
	object := s.object(name, s.pos)
	_, imported := object.(*types.PkgName)
	return object != nil && !imported
}

// Assigned returns the variable, known at the place, that the function around it
// or else the package level assigns the result of one of the calls to; "" when
// there is none.
func (s *Scope) Assigned(calls ...Symbol) string {
	for _, name := range s.file.assignments(s.decl, calls) {
		if s.Variable(name) {
			return name
		}
	}
	if name := s.file.PackageVar(calls...); name != "" && s.Variable(name) {
		return name
	}
	return ""
}

// Param returns the parameter, known at the place, of the function around it
// that has one of the types; "" when there is none.
func (s *Scope) Param(typ ...Symbol) string {
	fn, ok := s.decl.(*ast.FuncDecl)
	if !ok {
		return ""
	}
	for _, field := range fn.Type.Params.List {
		for _, name := range field.Names {
			if s.file.is(field.Type, typ) && s.Variable(name.Name) {
				return name.Name
			}
		}
	}
	return ""
}

// Argument returns the first argument of the last call of call in the function
// around the place, when it is a name that means the same at the place, or is
// selected from one ("scheme.Scheme"); else "". The call is named as in BeforeCall.
func (s *Scope) Argument(call string) string {
	found := ""
	if s.decl == nil {
		return found
	}
	ast.Inspect(s.decl, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && calls(c, call) && len(c.Args) > 0 {
			if root := root(c.Args[0]); root != nil && s.object(root.Name, root.Pos()) == s.object(root.Name, s.pos) {
				found = chain(c.Args[0])
			}
		}
		return true
	})
	return found
}

// root returns the identifier that a chain of selectors starts with, or nil.
func root(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return root(e.X)
	}
	return nil
}
