package marker

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/crd/markers"
)

// ofKinds reports whether a marker has an effect only on the type of a kind.
func ofKinds(name string) bool {
	for _, d := range markers.CRDMarkers {
		if "+"+d.Name == name {
			return d.Name != "kubebuilder:externalDocs"
		}
	}
	return false
}

// onType says why a marker has no effect on the type that it describes, or returns "". files are the files of the package.
func (m *marker) onType(files []*ast.File) string {
	t, is := m.node.(*ast.TypeSpec)
	switch {
	case !is || !ours(m.name):
		return ""
	case ofKinds(m.name):
		// Another name of a kind in another package is a version of that kind.
		if _, is := t.Type.(*ast.StructType); !is || embeds(t, "TypeMeta") && embeds(t, "ObjectMeta") {
			return ""
		}
		why := "it describes a kind, but " + t.Name.Name + " does not embed metav1.TypeMeta and metav1.ObjectMeta"
		for _, suffix := range []string{"List", "Spec", "Status"} {
			kind, cut := strings.CutSuffix(t.Name.Name, suffix)
			if cut && declares(files, func(t *ast.TypeSpec) bool { return t.Name.Name == kind }) {
				return why + "; move it to type " + kind
			}
		}
		return why
	case t.Assign.IsValid() && !strings.HasPrefix(m.name, "+kubebuilder:object:") && !strings.HasPrefix(m.name, "+kubebuilder:ac:") &&
		ast.IsExported(lastName(t.Type)) && ofField(t.Name.Name, files): // the library handles an alias of string like a declaration
		return "fields with the alias " + t.Name.Name + " have the schema of " + types.ExprString(t.Type) +
			"; mark the fields, or delete the = of the alias"
	}
	return ""
}

// ofField reports whether a field of the package has the type of a name, which is no kind.
func ofField(name string, files []*ast.File) bool {
	return declares(files, func(t *ast.TypeSpec) bool { return uses(t, name) }) &&
		!declares(files, func(t *ast.TypeSpec) bool { return t.Name.Name == name+"List" })
}

// embeds reports whether a type is a struct that embeds a type with a name.
func embeds(t *ast.TypeSpec, name string) bool {
	s, is := t.Type.(*ast.StructType)
	return is && slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool { return len(f.Names) == 0 && lastName(f.Type) == name })
}

// lastName returns the name of a type without its package, or "" for other types.
func lastName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return ""
}

// declares reports whether a package declares a type that meets a condition.
func declares(files []*ast.File, is func(*ast.TypeSpec) bool) bool {
	return slices.ContainsFunc(files, func(f *ast.File) bool {
		return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
			g, ok := d.(*ast.GenDecl)
			return ok && slices.ContainsFunc(g.Specs, func(s ast.Spec) bool {
				t, ok := s.(*ast.TypeSpec)
				return ok && is(t)
			})
		})
	})
}

// uses reports whether a struct has a field with the type of a name.
func uses(t *ast.TypeSpec, name string) (found bool) {
	s, is := t.Type.(*ast.StructType)
	if !is {
		return false
	}
	for _, f := range s.Fields.List {
		ast.Inspect(f.Type, func(n ast.Node) bool {
			id, is := n.(*ast.Ident)
			found = found || is && id.Name == name
			_, other := n.(*ast.SelectorExpr) // a type of another package
			return !found && !other
		})
	}
	return found
}
