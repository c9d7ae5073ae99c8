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
// packages or that other packages can use. In addition, no exported type, method or constant of
// the other files may depend on what they declare.
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
	for {
		before := len(declared)
		for _, f := range files {
			for _, decl := range f.Decls {
				if !depends(decl, declared) {
					return false
				}
			}
		}
		if len(declared) == before {
			return true
		}
	}
}

// depends adds the names that a declaration makes depend on others in the map: such a type is
// not what the compiler sees, nor is the receiver of such a method. It returns false if one of
// them is exported.
func depends(decl ast.Decl, names map[string]bool) bool {
	var changed []*ast.Ident
	switch d := decl.(type) {
	case *ast.GenDecl:
		if d.Tok == token.CONST && mentions(d, names) { // constants may repeat the value before them
			for _, spec := range d.Specs {
				changed = append(changed, spec.(*ast.ValueSpec).Names...)
			}
		}
		for _, spec := range d.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok && mentions(t.Type, names) {
				changed = append(changed, t.Name)
			}
		}
	case *ast.FuncDecl:
		if d.Recv == nil || !mentions(d.Type, names) {
			break
		}
		ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				changed = append(changed, id)
			}
			return true
		})
	}
	for _, name := range changed {
		if name.IsExported() {
			return false
		}
		names[name.Name] = true
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
