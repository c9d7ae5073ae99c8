package schemas

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// Ref returns the reference to a type. path is the import path of its package, or "" for
// the package that refers to it.
func Ref(path, name string) string {
	if path != "" {
		name = strings.ReplaceAll(path, "/", "~1") + "~0" + name
	}
	return definitions + name
}

const definitions = "#/definitions/"

// SplitRef returns what [Ref] made a reference from.
func SplitRef(ref string) (path, name string) {
	ref = strings.TrimPrefix(ref, definitions)
	path, name, ok := strings.Cut(ref, "~0")
	if !ok {
		return "", ref
	}
	return strings.ReplaceAll(path, "~1", "/"), name
}

// Referred returns the type that a reference in a package names. Its package is nil if
// the package does not import it.
func Referred(ref string, from *loader.Package) Type {
	path, name := SplitRef(ref)
	if path == "" {
		return Type{from, name}
	}
	return Type{from.Imports()[path], name}
}

// EachRef calls yield with each reference of a schema.
func EachRef(s *Props, yield func(ref string)) {
	if s.Ref != nil && *s.Ref != "" {
		yield(*s.Ref)
	}
	Parts(new(*s), func(part *Props) { EachRef(part, yield) })
}

// Parts changes the schemas directly below a root. It copies what holds them, so that
// other roots with the same parts do not change. Properties are in
// the order of their names.
func Parts(root *Props, change func(*Props)) {
	one := func(s *Props) *Props {
		if s != nil {
			s = new(*s)
			change(s)
		}
		return s
	}
	list := func(all *[]Props) {
		*all = slices.Clone(*all)
		for i := range *all {
			change(&(*all)[i])
		}
	}
	named := func(all *map[string]Props) {
		from := *all
		if from == nil {
			return
		}
		*all = make(map[string]Props, len(from))
		for _, name := range slices.Sorted(maps.Keys(from)) {
			s := from[name]
			change(&s)
			(*all)[name] = s
		}
	}
	orBool := func(s *apiextensionsv1.JSONSchemaPropsOrBool) *apiextensionsv1.JSONSchemaPropsOrBool {
		if s != nil {
			s = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.Allows, Schema: one(s.Schema)}
		}
		return s
	}
	if items := root.Items; items != nil {
		root.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: one(items.Schema), JSONSchemas: items.JSONSchemas}
		list(&root.Items.JSONSchemas)
	}
	list(&root.AllOf)
	list(&root.OneOf)
	list(&root.AnyOf)
	root.Not = one(root.Not)
	named(&root.Properties)
	root.AdditionalProperties = orBool(root.AdditionalProperties)
	named(&root.PatternProperties)
	root.AdditionalItems = orBool(root.AdditionalItems)
}
