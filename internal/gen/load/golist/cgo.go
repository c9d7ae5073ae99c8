package golist

import (
	"go/ast"
	"go/token"
	"strings"
)

// removable reports whether a package has the same types without the files that cgo
// translates. The compiler reads the translated files, which are expensive to get, and
// nearly every project imports a package with such files: net. The files are removable if
// they declare no methods, have no markers, and declare no types that refer to other
// packages or that other packages can use. In addition, no type, method or constant of
// the other files may mention what they declare.
func removable(translated, files []*ast.File) bool {
	declared := map[string]bool{}
	for _, f := range translated {
		for _, group := range f.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(strings.TrimSpace(c.Text[2:]), "+") {
					return false
				}
			}
		}
		for _, decl := range f.Decls {
			if !declares(decl, declared) {
				return false
			}
		}
	}
	for _, f := range files {
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.GenDecl:
				if (d.Tok == token.TYPE || d.Tok == token.CONST) && mentions(d, declared) {
					return false
				}
			case *ast.FuncDecl:
				if d.Recv != nil && (mentions(d.Recv, declared) || mentions(d.Type, declared)) {
					return false
				}
			}
		}
	}
	return true
}

// declares adds the names that decl declares. It returns false for declarations that
// removable does not allow.
func declares(decl ast.Decl, names map[string]bool) bool {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		names[d.Name.Name] = true
		return d.Recv == nil
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names[s.Name.Name] = true
				if s.Name.IsExported() || refersToOthers(s.Type) {
					return false
				}
			case *ast.ImportSpec:
				if s.Name != nil && s.Name.Name == "." {
					return false
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					names[name.Name] = true
					if name.IsExported() {
						return false
					}
				}
			}
		}
	}
	return true
}

// refersToOthers reports whether a type mentions a package other than C.
func refersToOthers(t ast.Expr) bool {
	found := false
	ast.Inspect(t, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			x, ok := sel.X.(*ast.Ident)
			found = found || !ok || x.Name != "C"
		}
		return !found
	})
	return found
}

func mentions(node ast.Node, names map[string]bool) bool {
	found := false
	ast.Inspect(node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && names[id.Name] {
			found = true
		}
		return !found
	})
	return found
}
