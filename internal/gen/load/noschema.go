package load

import (
	"go/ast"
	"strings"

	"github.com/operon-dev/operon/internal/gen/overlay"
)

const noSchema = "the type error has no schema"

// ErrorFields returns the fields of API types with the type error, at which controller-tools panics.
func ErrorFields(set *Set, src *overlay.Project) (found Problems) {
	for _, root := range set.Roots {
		if root.Types == nil || root.Types.Scope().Lookup("error") != nil {
			continue
		}
		for _, file := range root.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				f, isField := n.(*ast.Field)
				if !isField || f.Tag == nil || !strings.Contains(f.Tag.Value, "json:") {
					return true
				}
				ast.Inspect(f.Type, func(n ast.Node) bool {
					if name, is := n.(*ast.Ident); is && name.Name == "error" {
						at := set.Fset.Position(name.Pos())
						found = append(found, Problem{File: src.Rel(at.Filename), Line: at.Line, Column: at.Column, Message: noSchema})
					}
					return true
				})
				return true
			})
		}
	}
	return found
}
