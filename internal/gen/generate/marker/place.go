package marker

import (
	"go/ast"
	"go/token"

	"sigs.k8s.io/controller-tools/pkg/markers"
)

// place describes the position of a marker without effect, and how to correct it.
func (m *marker) place() string {
	doc, inside := "", ""
	at := m.comment.Pos()
	ast.Inspect(m.file, func(n ast.Node) bool {
		if n == nil || at < begin(n) || at >= n.End() {
			return false
		}
		group, what := documented(n)
		if group != nil && group.Pos() <= at && at < group.End() {
			doc = what
		} else if what != "" {
			inside = what
		}
		return true
	})
	pkgLevel := m.scopes&(1<<markers.DescribesPackage) != 0
	switch {
	case doc != "" && pkgLevel:
		return "this is the doc comment of " + doc + "; leave an empty line below it"
	case doc != "":
		return "this is the doc comment of " + doc
	case inside != "":
		return "this is inside " + inside
	}
	return "none follows"
}

// begin returns the start of a node with its doc comment.
func begin(n ast.Node) token.Pos {
	if group, _ := documented(n); group != nil && group.Pos() < n.Pos() {
		return group.Pos()
	}
	return n.Pos()
}

// documented returns the doc comment of a declaration, and a phrase for the declaration.
func documented(n ast.Node) (doc *ast.CommentGroup, what string) {
	switch d := n.(type) {
	case *ast.File:
		return d.Doc, ""
	case *ast.FuncDecl:
		return d.Doc, "func " + d.Name.Name
	case *ast.GenDecl:
		if len(d.Specs) == 1 {
			if t, ok := d.Specs[0].(*ast.TypeSpec); ok {
				return d.Doc, "type " + t.Name.Name
			}
		}
		return d.Doc, "a " + d.Tok.String() + " declaration"
	case *ast.TypeSpec:
		return d.Doc, "type " + d.Name.Name
	case *ast.ValueSpec:
		return d.Doc, d.Names[0].Name
	case *ast.Field:
		if len(d.Names) > 0 {
			return d.Doc, "field " + d.Names[0].Name
		}
		return d.Doc, "an embedded field"
	}
	return nil, ""
}
