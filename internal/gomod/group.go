package gomod

import (
	"errors"
	"go/ast"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// groupFromCode returns the group in schema.GroupVersion{Group: ...}. It may be a
// string, or a constant of the package or of another package in the module.
func groupFromCode(m Module, files []source) string {
	group := ""
	for _, f := range files {
		ast.Inspect(f.File, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || group != "" {
				return group == ""
			}
			if sel, ok := lit.Type.(*ast.SelectorExpr); !ok || sel.Sel.Name != "GroupVersion" {
				return true
			}
			for _, e := range lit.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && isIdent(kv.Key, "Group") {
					group = stringValue(m, files, f, kv.Value)
				}
			}
			return true
		})
	}
	return group
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// stringValue returns the value of e in file f if it is a literal or the name of a
// constant literal, and "" otherwise.
func stringValue(m Module, files []source, f source, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		value, _ := strconv.Unquote(e.Value)
		return value
	case *ast.Ident:
		return constant(m, files, e.Name)
	case *ast.SelectorExpr:
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			name := path.Base(imported)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if !isIdent(e.X, name) || !m.Holds(imported) {
				continue
			}
			others, err := parseDir(filepath.Join(m.Dir, filepath.FromSlash(strings.TrimPrefix(imported, m.Path))))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return ""
			}
			return constant(m, others, e.Sel.Name)
		}
	}
	return ""
}

// constant returns the value of a package-level name that is declared as a string.
func constant(m Module, files []source, name string) string {
	for _, f := range files {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range decl.Specs {
				spec, ok := s.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, n := range spec.Names {
					if lit, ok := valueAt(spec, i).(*ast.BasicLit); ok && n.Name == name {
						return stringValue(m, files, f, lit)
					}
				}
			}
		}
	}
	return ""
}

func valueAt(spec *ast.ValueSpec, i int) ast.Expr {
	if i < len(spec.Values) {
		return spec.Values[i]
	}
	return nil
}
