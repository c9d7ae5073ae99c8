package adopt

import (
	"go/ast"
	"slices"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
)

// goType is a struct type that may be a kind.
type goType struct {
	name       string
	typeMeta   bool // embeds TypeMeta
	objectMeta bool // embeds ObjectMeta
	markers    []marker
	line       int
}

func (t goType) has(name string) bool {
	return slices.ContainsFunc(t.markers, func(m marker) bool { return m.name == name })
}

// isMarkedKind reports whether markers of generators say that the type is a kind.
func (t goType) isMarkedKind() bool {
	return t.has("genclient") || slices.ContainsFunc(t.markers, func(m marker) bool {
		return m.name == "kubebuilder:object:root" && m.value == "true" ||
			m.name == "kubebuilder:resource" || m.name == "kubebuilder:storageversion"
	})
}

// hasApplyConfiguration reports whether the type has an apply configuration in a package that has some.
func (t goType) hasApplyConfiguration() bool {
	for _, m := range t.markers {
		if m.name == applyMarker {
			return m.value == "true"
		}
	}
	return t.has("kubebuilder:resource")
}

// names returns the names and the scope of the CRD, as controller-gen takes them from all markers
// +kubebuilder:resource: the last one that has a value counts.
func (t goType) names() apiext.CustomResourceDefinitionSpec {
	var spec apiext.CustomResourceDefinitionSpec
	for _, m := range t.markers {
		if m.name == "kubebuilder:resource" {
			_ = arguments[crdmarkers.Resource](resourceDefinition, m).ApplyToCRD(&spec, "") // it has no errors
		}
	}
	return spec
}

// typeSpec reads a struct type. Like controller-gen, it accepts markers in the comment before the
// documentation, after an empty line.
func (p *parsing) typeSpec(d *ast.GenDecl, spec *ast.TypeSpec, ofTypes map[*ast.CommentGroup]bool) {
	doc, start := spec.Doc, spec.Pos()
	if doc == nil && !d.Lparen.IsValid() {
		doc, start = d.Doc, d.Pos()
	}
	if doc != nil {
		start = doc.Pos()
	}
	above := p.comments[p.line(start)-2]
	ofTypes[doc] = true
	body, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	t := goType{name: spec.Name.Name, line: p.line(spec.Pos())}
	for _, field := range body.Fields.List {
		if len(field.Names) > 0 {
			continue
		}
		switch x := field.Type.(type) {
		case *ast.SelectorExpr:
			t.typeMeta = t.typeMeta || x.Sel.Name == "TypeMeta"
			t.objectMeta = t.objectMeta || x.Sel.Name == "ObjectMeta"
		case *ast.Ident: // in packages that import metav1 with a dot
			t.typeMeta = t.typeMeta || x.Name == "TypeMeta"
			t.objectMeta = t.objectMeta || x.Name == "ObjectMeta"
		}
	}
	if !t.typeMeta {
		return
	}
	ofTypes[above] = true
	t.markers = append(p.markersIn(above), p.markersIn(doc)...)
	p.types = append(p.types, t)
}

// groupVersionVar is a variable with an API group and version.
type groupVersionVar struct {
	name           string
	group, version expr
	line           int
}

// groupVersion returns the value of a composite literal of schema.GroupVersion or metav1.GroupVersion.
func (p *parsing) groupVersion(v ast.Expr) (groupVersionVar, bool) {
	lit, ok := v.(*ast.CompositeLit)
	if !ok {
		return groupVersionVar{}, false
	}
	if typ, ok := lit.Type.(*ast.SelectorExpr); !ok || typ.Sel.Name != "GroupVersion" {
		return groupVersionVar{}, false
	}
	var gv groupVersionVar
	for _, e := range lit.Elts {
		field, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return groupVersionVar{}, false
		}
		key, _ := field.Key.(*ast.Ident)
		value, ok := stringExpr(field.Value)
		switch {
		case !ok || key == nil:
			return groupVersionVar{}, false
		case key.Name == "Group":
			gv.group = value
		case key.Name == "Version":
			gv.version = value
		}
	}
	return gv, true
}

// registrations notes the types that a call adds to a scheme.
func (p *parsing) registrations(n ast.Node) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return
	}
	name := callee(call)
	registers := name == "Register" || name == "AddKnownTypes" || name == "AddKnownTypeWithName"
	if registers || name == "append" && len(call.Args) > 0 && strings.Contains(strings.ToLower(text(call.Args[0])), "types") {
		for _, arg := range call.Args {
			p.registerLiterals(arg)
		}
	}
}

// registerLiterals notes the types of &T{} and new(T) in an expression.
func (p *parsing) registerLiterals(v ast.Expr) {
	ast.Inspect(v, func(n ast.Node) bool {
		if r, ok := literal(n); ok && r.pkg == "" {
			p.registered[r.name] = true
		}
		return true
	})
}

// literal returns T for T{}, and for new(T).
func literal(n ast.Node) (ref, bool) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		return typeRef(n.Type)
	case *ast.CallExpr:
		if callee(n) == "new" && len(n.Args) == 1 {
			return typeRef(n.Args[0])
		}
	}
	return ref{}, false
}

// typeRef returns the name of a type, without type arguments.
func typeRef(v ast.Expr) (ref, bool) {
	switch v := v.(type) {
	case *ast.Ident:
		return ref{"", v.Name}, true
	case *ast.SelectorExpr:
		if x, ok := v.X.(*ast.Ident); ok {
			return ref{x.Name, v.Sel.Name}, true
		}
	case *ast.IndexExpr:
		return typeRef(v.X)
	case *ast.StarExpr:
		return typeRef(v.X)
	}
	return ref{}, false
}

// callee returns the last name of what a call calls: For in x.For(y).
func callee(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.IndexExpr:
		if r, ok := typeRef(f.X); ok {
			return r.name
		}
	}
	return ""
}

// text returns the name of an identifier, or "".
func text(v ast.Expr) string {
	if id, ok := v.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
