// Package flatten combines the schemas of types into the schemas of kinds. The result is
// that of [crd.Flattener] and [crd.FlattenEmbedded] of controller-tools v0.23.0, in a
// fraction of the time. The package flattens what is below the root of a type once, and
// all references to the type share the result. The library copies the whole schema
// several times for each reference.
//
// The library still merges the roots of schemas. In unusual cases, this package returns
// an error, and the caller lets the library flatten the kind. Such an error does not mean
// that the types are invalid.
package flatten

import (
	"errors"
	"maps"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

type props = apiextensionsv1.JSONSchemaProps

// ErrUnknown means that this package cannot flatten a schema.
var ErrUnknown = errors.New("not supported by the flattener")

// ErrCycle means that types refer to each other in a cycle. The library's result then
// depends on which of them it flattens first, even for another kind.
var ErrCycle = errors.New("types refer to each other")

// Flattener flattens the kinds of a parser. Its schemas share parts with each other and
// with those of the parser, so only their roots may be changed. It is not safe for
// concurrent use.
type Flattener struct {
	Parser *crd.Parser
	// MaxDescLen truncates descriptions, as [crd.TruncateDescription] does. With nil,
	// they stay as they are.
	MaxDescLen *int

	types map[crd.TypeIdent]flattened
	open  []crd.TypeIdent // the types in progress; the first is the kind
}

// flattened is the schema of a type for references to it: everything below the root is
// flattened, but the root is not yet merged with the schemas that it embeds.
type flattened struct {
	root *props
	err  error
}

// Kind returns the schema of a version of a kind. The caller may change the root and the
// map of its properties.
func (f *Flattener) Kind(id crd.TypeIdent) (*props, error) {
	f.open = append(f.open[:0], id)
	raw, err := f.raw(id)
	if err != nil {
		return nil, err
	}
	whole, err := f.whole(&raw, id.Package)
	if errors.Is(err, ErrUnknown) && f.hasCycle(id, id, map[crd.TypeIdent]bool{}) {
		return nil, ErrCycle
	}
	if err != nil {
		return nil, err
	}
	own := make(map[string]props, len(whole.Properties))
	maps.Copy(own, whole.Properties)
	whole.Properties = own
	return &whole, nil
}

func (f *Flattener) raw(id crd.TypeIdent) (props, error) {
	f.Parser.NeedSchemaFor(id)
	raw, ok := f.Parser.Schemata[id]
	if !ok {
		return raw, ErrUnknown
	}
	return raw, nil
}

// whole returns the flattened form of a schema in a package.
func (f *Flattener) whole(s *props, pkg *loader.Package) (props, error) {
	root, err := f.root(s, pkg)
	if err == nil && len(root.AllOf) > 0 {
		root, err = merge(&root)
	}
	if err == nil && f.MaxDescLen != nil && root.Description != "" {
		text := props{Description: root.Description}
		crd.TruncateDescription(&text, *f.MaxDescLen)
		root.Description = text.Description
	}
	return root, err
}

// root flattens what is below the root of a schema. It merges the root with the schemas
// that it refers to or embeds only if that is trivial.
func (f *Flattener) root(s *props, pkg *loader.Package) (props, error) {
	if s.Ref != nil && *s.Ref != "" {
		t, err := f.referred(*s.Ref, pkg)
		if err != nil {
			return props{}, err
		}
		return refer(t, s)
	}
	if len(s.Dependencies)+len(s.Definitions) > 0 {
		return props{}, ErrUnknown // generators do not use them
	}
	p := parts{f, pkg, nil}
	root := *s
	root.Properties = p.byName(s.Properties)
	root.PatternProperties = p.byName(s.PatternProperties)
	root.AnyOf, root.OneOf = p.list(s.AnyOf), p.list(s.OneOf)
	root.Not = p.one(s.Not)
	if s.Items != nil {
		root.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: p.one(s.Items.Schema), JSONSchemas: p.list(s.Items.JSONSchemas)}
	}
	root.AdditionalProperties, root.AdditionalItems = p.orBool(s.AdditionalProperties), p.orBool(s.AdditionalItems)
	root.AllOf = p.embedded(s.AllOf)
	return root, p.err
}

// referred returns the type that a reference in a package names.
func (f *Flattener) referred(ref string, pkg *loader.Package) (*props, error) {
	id, ok := lookup(ref, pkg)
	if !ok {
		return nil, ErrUnknown
	}
	if known, ok := f.types[id]; ok {
		return known.root, known.err
	}
	switch i := slices.Index(f.open, id); {
	case i > 0 && i == len(f.open)-1:
		return &props{}, nil // a reference of a type to itself
	case i >= 0:
		return nil, ErrCycle
	}
	f.open = append(f.open, id)
	var t flattened
	raw, err := f.raw(id)
	if err == nil {
		raw, err = f.root(&raw, id.Package)
	}
	t.root, t.err = &raw, err
	f.open = f.open[:len(f.open)-1]
	if f.types == nil {
		f.types = map[crd.TypeIdent]flattened{}
	}
	f.types[id] = t
	return t.root, t.err
}

// refer returns the schema of a field that has a type. The constraints of both apply.
// The documentation of the field replaces that of the type.
func refer(t, field *props) (props, error) {
	own := *field
	own.Ref = nil
	own.Description, own.Title, own.ExternalDocs, own.Example = "", "", nil, nil
	if hasParts(&own) || len(own.AllOf) > 0 {
		return props{}, ErrUnknown // its parts may refer to other types
	}
	both := props{Description: t.Description, Title: t.Title, ExternalDocs: t.ExternalDocs, Example: t.Example}
	if field.Description != "" {
		both.Description = field.Description
	}
	if field.Title != "" {
		both.Title = field.Title
	}
	if field.ExternalDocs != nil {
		both.ExternalDocs = field.ExternalDocs
	}
	if field.Example != nil {
		both.Example = field.Example
	}
	if merged, ok := alone(t, &own, both); ok {
		return merged, nil
	}
	both.AllOf = []props{*t, own}
	return both, nil
}

// alone merges a type and a field that has no constraints of its own, which is the usual
// case. ok is false for other fields.
func alone(t, field *props, both props) (merged props, ok bool) {
	kind := field.Type
	field.Type = ""
	ok = len(t.AllOf) == 0 && (kind == "" || t.Type == "" || kind == t.Type) && reflect.ValueOf(field).Elem().IsZero()
	field.Type = kind
	if !ok {
		return props{}, false
	}
	merged = *t
	merged.Description, merged.Title, merged.ExternalDocs, merged.Example = both.Description, both.Title, both.ExternalDocs, both.Example
	if kind != "" {
		merged.Type = kind
	}
	if len(merged.Enum) == 0 {
		merged.Enum = nil
	}
	if len(merged.Required) > 1 {
		merged.Required = slices.Compact(slices.Sorted(slices.Values(merged.Required)))
	}
	return merged, true
}
