package goedit

import (
	"go/ast"
	"slices"
	"strings"
)

// Package returns the name in the file's package clause.
func (f *File) Package() string { return f.file.Name.Name }

// Declares maps the names that the file declares at package level to their
// lines. It omits methods, func init and blank names, because several files can
// have the same ones.
func (f *File) Declares() map[string]int {
	names := map[string]int{}
	add := func(list ...*ast.Ident) {
		for _, id := range list {
			if id.Name != "_" {
				names[id.Name] = f.line(id.Pos())
			}
		}
	}
	for _, d := range f.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name != "init" {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name)
				case *ast.ValueSpec:
					add(s.Names...)
				}
			}
		}
	}
	return names
}

// Receivers returns the types for which the file declares methods, each once.
func (f *File) Receivers() []string {
	var names []string
	for _, d := range f.file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if name := receiverType(fn); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// receiverType returns the name of the receiver type of a method, or "".
func receiverType(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) != 1 {
		return ""
	}
	for e := fn.Recv.List[0].Type; ; {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr: // generic type
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// Mentions reports whether the code of the file contains the identifier name.
func (f *File) Mentions(name string) bool {
	found := false
	ast.Inspect(f.file, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// Imports returns the paths of the packages that the file imports.
func (f *File) Imports() []string {
	var paths []string
	for _, spec := range f.file.Imports {
		paths = append(paths, importPath(spec))
	}
	return paths
}

// Makes reports whether the file has a composite literal of a type with this
// name, from any package, or calls new with it.
func (f *File) Makes(typeName string) bool {
	names := func(e ast.Expr) bool {
		full := chain(e)
		return full[strings.LastIndexByte(full, '.')+1:] == typeName
	}
	found := false
	ast.Inspect(f.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			found = found || n.Type != nil && names(n.Type)
		case *ast.CallExpr:
			found = found || chain(n.Fun) == "new" && len(n.Args) == 1 && names(n.Args[0])
		}
		return !found
	})
	return found
}

// Assigned returns the first function that assigns the result of one of the
// calls, and the variable. Both are "" if there is none.
func (f *File) Assigned(calls ...Symbol) (fn, name string) {
	for _, d := range f.file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil {
			if names := f.assignments(d, calls); len(names) > 0 {
				return d.Name.Name, names[0]
			}
		}
	}
	return "", ""
}

// PackageVar returns the package-level variable that is declared with the
// result of one of the calls, or "".
func (f *File) PackageVar(calls ...Symbol) string {
	for _, d := range f.file.Decls {
		if d, ok := d.(*ast.GenDecl); ok {
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					if names := f.results(asExprs(v.Names), v.Values, calls); len(names) > 0 {
						return names[0]
					}
				}
			}
		}
	}
	return ""
}

// assignments returns the variables in n to which the result of one of the
// calls is assigned, in order.
func (f *File) assignments(n ast.Node, calls []Symbol) []string {
	var names []string
	if n == nil {
		return nil
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			names = append(names, f.results(n.Lhs, n.Rhs, calls)...)
		case *ast.ValueSpec:
			names = append(names, f.results(asExprs(n.Names), n.Values, calls)...)
		}
		return true
	})
	return names
}

// results returns the names in left that get the first result of one of the
// calls in right.
func (f *File) results(left, right []ast.Expr, calls []Symbol) []string {
	var names []string
	for i, e := range right {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok || i >= len(left) || !f.is(call.Fun, calls) {
			continue
		}
		if id, ok := left[i].(*ast.Ident); ok && id.Name != "_" {
			names = append(names, id.Name)
		}
	}
	return names
}

// is reports whether e denotes one of the symbols in this file.
func (f *File) is(e ast.Expr, symbols []Symbol) bool {
	name := chain(e)
	return slices.ContainsFunc(symbols, func(s Symbol) bool {
		for _, local := range f.importNames(s.Path) {
			if name == local+"."+s.Name || local == "." && name == s.Name {
				return true
			}
		}
		return false
	})
}

// importNames returns the local names of the package at path.
func (f *File) importNames(path string) []string {
	var names []string
	for _, spec := range f.file.Imports {
		if importPath(spec) == path {
			names = append(names, f.localName(spec))
		}
	}
	return names
}

func asExprs(list []*ast.Ident) []ast.Expr {
	var all []ast.Expr
	for _, id := range list {
		all = append(all, id)
	}
	return all
}
