package depcache

import (
	"errors"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

var errLacking = errors.New("the cache does not have this part of the package")

// Override makes a parser use the schemas of cached packages in the world, which include
// those that [crd.AddKnownTypes] adds. Call it after the roots are parsed. kinds
// are the kinds in the roots: the parser would search other packages of the same groups
// for more versions, which the world does not have.
func (w *World) Override(parser *crd.Parser, kinds []schema.GroupKind) {
	if w == nil {
		return
	}
	for path := range w.preset {
		e := w.used[path]
		parser.PackageOverrides[loader.NonVendorPath(path)] = func(parser *crd.Parser, p *loader.Package) {
			all, ok := w.decoded[path]()
			ofKind := e.Grouped && slices.ContainsFunc(kinds, func(k schema.GroupKind) bool { return k.Group == e.Group })
			if !ok || ofKind {
				p.AddError(errLacking)
			}
			for name, s := range all {
				parser.Schemata[crd.TypeIdent{Package: p, Name: name}] = s
			}
		}
	}
}

// Collect adds the schemas and groups that a parser found to the world.
func (w *World) Collect(parser *crd.Parser) {
	if w == nil {
		return
	}
	for id, s := range parser.Schemata {
		path := id.Package.PkgPath
		if w.schemas[path] == nil {
			w.schemas[path] = map[string]apiextensionsv1.JSONSchemaProps{}
		}
		w.schemas[path][id.Name] = s
	}
	for p, gv := range parser.GroupVersions {
		w.groups[p.PkgPath] = gv.Group
	}
}

func (w *World) group(path string) (group string, ok bool) {
	group, ok = w.groups[path]
	return group, ok
}

// EachRef calls yield with each type that a schema refers to. path is the import path of its package, or "" for the
// package that has the schema.
func EachRef(s *apiextensionsv1.JSONSchemaProps, yield func(path, name string)) {
	crd.EditSchema(s, refs(yield))
}

type refs func(path, name string)

// Visit implements crd.SchemaVisitor.
func (yield refs) Visit(s *apiextensionsv1.JSONSchemaProps) crd.SchemaVisitor {
	if s != nil && s.Ref != nil {
		if name, path, err := crd.RefParts(*s.Ref); err == nil {
			yield(path, name)
		}
	}
	return yield
}
