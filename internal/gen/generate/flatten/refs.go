package flatten

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// Refs returns the types that a raw schema of a package refers to, in no particular
// order. ok is false if a reference cannot be resolved.
func Refs(schema *apiextensionsv1.JSONSchemaProps, pkg *loader.Package) (ids []crd.TypeIdent, ok bool) {
	ok = true
	crd.EditSchema(schema, visitor(func(ref string) {
		id, found := lookup(ref, pkg)
		if ok = ok && found; found {
			ids = append(ids, id)
		}
	}))
	return ids, ok
}

// lookup returns the type that a reference in a package names.
func lookup(ref string, pkg *loader.Package) (id crd.TypeIdent, ok bool) {
	name, path, err := crd.RefParts(ref)
	id = crd.TypeIdent{Package: pkg, Name: name}
	if path != "" {
		id.Package = pkg.Imports()[path]
	}
	return id, err == nil && id.Package != nil
}

// visitor is called with each reference of a schema.
type visitor func(ref string)

// Visit implements crd.SchemaVisitor.
func (v visitor) Visit(s *props) crd.SchemaVisitor {
	if s != nil && s.Ref != nil && *s.Ref != "" {
		v(*s.Ref)
	}
	return v
}
