package schemas

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

const metav1Path = "k8s.io/apimachinery/pkg/apis/meta/v1"

// Kinds returns the kinds among the types that the parser has read, sorted. A kind embeds
// metav1.TypeMeta and metav1.ObjectMeta.
func (p *Parser) Kinds(roots []*loader.Package) []schema.GroupKind {
	meta := Meta(roots)
	if meta == nil {
		return nil
	}
	found := map[schema.GroupKind]bool{}
	for t, info := range p.Types {
		if isKind(t.Package, info, meta.ID) {
			found[schema.GroupKind{Group: p.Groups[t.Package].Group, Kind: t.Name}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
}

// Meta returns package metav1, or nil if no root imports it: then there are no kinds.
func Meta(roots []*loader.Package) *loader.Package {
	for _, root := range roots {
		if meta := root.Imports()[metav1Path]; meta != nil {
			return meta
		}
	}
	return nil
}

// isKind reports whether a type is a kind. meta is the ID of package metav1: each root
// may have its own instance of it.
func isKind(pkg *loader.Package, info *markers.TypeInfo, meta string) bool {
	pkg.NeedTypesInfo()
	var object, typed bool
	for _, field := range info.Fields {
		if field.Name != "" {
			continue
		}
		named, ok := pkg.TypesInfo.TypeOf(field.RawField.Type).(*types.Named)
		if !ok || named.Obj().Pkg() == nil {
			continue
		}
		if from := pkg.Imports()[loader.NonVendorPath(named.Obj().Pkg().Path())]; from == nil || from.ID != meta {
			continue
		}
		object = object || named.Obj().Name() == "ObjectMeta"
		typed = typed || named.Obj().Name() == "TypeMeta"
	}
	return object && typed
}

// NeedsTypes tells the type checker which parts of a type the schemas depend on. Fields
// without a JSON tag are not part of the JSON, and interfaces have no schema.
func NeedsTypes(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.InterfaceType:
		return false
	case *ast.Field:
		_, tagged := loader.ParseAstTag(n.Tag).Lookup("json")
		return tagged
	}
	return true
}
