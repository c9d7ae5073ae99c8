package goedit

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Symbol is a name declared by an imported package, or a selector on one:
// {"sigs.k8s.io/controller-runtime", "Log.WithName"}.
type Symbol struct{ Path, Name string }

// Scope resolves names at one place of a file, as the file was when ScopeAt was
// called.
type Scope struct {
	file *File
	pos  token.Pos
	all  *types.Scope // scope of the package
	decl ast.Decl     // the declaration around the place; nil: none
}

// ScopeAt returns the scope at the first of the anchors that the file has, or
// nil.
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

// Variable reports whether name denotes a variable at the place: a local one,
// or one that this file declares at package level.
func (s *Scope) Variable(name string) bool {
	_, ok := s.object(name, s.pos).(*types.Var)
	return ok
}

// Knows reports whether this file declares name at the place.
func (s *Scope) Knows(name string) bool { return s.object(name, s.pos) != nil }

// object returns what name denotes at pos, or nil if this file does not declare
// it.
func (s *Scope) object(name string, pos token.Pos) types.Object {
	inner := s.all.Innermost(pos)
	if inner == nil {
		return nil
	}
	_, object := inner.LookupParent(name, pos)
	return object
}

// hides reports whether name denotes something other than an import at the
// place.
func (s *Scope) hides(name string) bool {
	object := s.object(name, s.pos)
	_, imported := object.(*types.PkgName)
	return object != nil && !imported
}

// Assigned returns the variable to which the surrounding function, or else the
// package level, assigns the result of one of the calls. It returns "" if there
// is none that is visible at the place.
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

// Param returns the visible parameter of the surrounding function that has one
// of the types, or "".
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

// Argument returns the first argument of the last call of call in the
// surrounding function, if it is a name with the same meaning at the place, or
// a selector on one ("scheme.Scheme"). Otherwise it returns "". The call is
// named as in BeforeCall.
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

// root returns the identifier at the start of a chain of selectors, or nil.
func root(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return root(e.X)
	}
	return nil
}
