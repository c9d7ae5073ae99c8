package schema

import (
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/crdschema"
)

// Schemas of CRDs have more rules than OpenAPI. The functions of this file keep two of them: an
// object has either properties or additionalProperties, and a schema without a type is open or
// x-kubernetes-int-or-string.

const preserve = "x-kubernetes-preserve-unknown-fields"

func ofType(name string) crdschema.Schema { return crdschema.Schema{"type": name} }

// anything accepts all values, including null.
func anything() crdschema.Schema { return crdschema.Schema{preserve: true, "nullable": true} }

func intOrString() crdschema.Schema { return crdschema.Schema{"x-kubernetes-int-or-string": true} }

func openObject() crdschema.Schema { return crdschema.Schema{"type": "object", preserve: true} }

func listOf(items crdschema.Schema) crdschema.Schema {
	return crdschema.Schema{"type": "array", "items": map[string]any(items)}
}

func mapOf(items crdschema.Schema) crdschema.Schema {
	return crdschema.Schema{"type": "object", "additionalProperties": map[string]any(items)}
}

func objectOf(properties map[string]any) crdschema.Schema {
	return crdschema.Schema{"type": "object", "properties": properties}
}

// properties returns the properties of a schema. They are nil if it has none.
func properties(s crdschema.Schema) map[string]any {
	all, _ := s["properties"].(map[string]any)
	return all
}

func property(s crdschema.Schema, name string) (crdschema.Schema, bool) {
	p, exists := properties(s)[name].(map[string]any)
	return p, exists
}

func setProperty(s crdschema.Schema, name string, p crdschema.Schema) {
	if properties(s) == nil {
		s["properties"] = map[string]any{}
	}
	properties(s)[name] = map[string]any(p)
}

// open makes a schema of objects accept any further keys.
func open(s crdschema.Schema) {
	delete(s, "additionalProperties")
	s[preserve] = true
}

func isOpen(s crdschema.Schema) bool { return s[preserve] == true }

// isKnown reports whether a schema says anything about the type of its values.
func isKnown(s crdschema.Schema) bool {
	return s["type"] != nil || s["x-kubernetes-int-or-string"] == true
}

// describe sets the description unless there is one.
func describe(s crdschema.Schema, text string) crdschema.Schema {
	if text != "" && s["description"] == nil {
		s["description"] = text
	}
	return s
}

// merge adds what other says to s, which comes first: further properties, and everything if s
// says nothing about the type. If both have keys of objects in different forms, s becomes open.
func merge(s, other crdschema.Schema) {
	if !isKnown(s) {
		said := maps.Clone(s)
		if isKnown(other) {
			delete(said, preserve)
			clear(s)
		}
		maps.Copy(s, other)
		maps.Copy(s, said)
		return
	}
	if s["type"] != "object" || other["type"] != "object" {
		return
	}
	for name, p := range properties(other) {
		inner, _ := p.(map[string]any)
		if own, exists := property(s, name); exists {
			merge(own, inner)
		} else {
			setProperty(s, name, inner)
		}
	}
	additional := s["additionalProperties"]
	if additional == nil {
		additional = other["additionalProperties"]
	}
	switch {
	case isOpen(s) || isOpen(other), additional != nil && properties(s) != nil:
		open(s)
	case additional != nil:
		s["additionalProperties"] = additional
	}
}

// union returns a schema that accepts what any of the schemas accepts, and reports whether it
// accepts nothing else, apart from conditions such as minLength.
func union(all []crdschema.Schema) (either crdschema.Schema, exact bool) {
	types := map[any]bool{}
	for _, s := range all {
		types[kindOf(s)] = true
	}
	is := func(names ...any) bool {
		for name := range types {
			if !slices.Contains(names, name) {
				return false
			}
		}
		return len(types) > 0
	}
	switch {
	case len(types) == 1 && is("object"):
		return unionOfObjects(all), true
	case len(types) == 1 && is("array"):
		var items []crdschema.Schema
		for _, s := range all {
			inner, _ := s["items"].(map[string]any)
			items = append(items, inner)
		}
		inner, exact := union(items)
		return listOf(inner), exact
	case len(types) == 1 && is("string", "boolean", "integer", "number"):
		return unionOfScalars(all), true
	case is("integer", "number"):
		return ofType("number"), true
	case is("integer", "string", "int-or-string"):
		return intOrString(), true
	}
	return anything(), false
}

// kindOf returns the type of a schema, "int-or-string", or nil.
func kindOf(s crdschema.Schema) any {
	if s["x-kubernetes-int-or-string"] == true {
		return "int-or-string"
	}
	return s["type"]
}

// unionOfScalars keeps the values of enum if all alternatives have them.
func unionOfScalars(all []crdschema.Schema) crdschema.Schema {
	s := ofType(all[0]["type"].(string))
	if len(all) == 1 {
		return maps.Clone(all[0])
	}
	var values []any
	for _, one := range all {
		list, _ := one["enum"].([]any)
		if len(list) == 0 {
			return s
		}
		for _, v := range list {
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	s["enum"] = values
	return s
}

// unionOfObjects has the properties of all schemas, and requires what all require.
func unionOfObjects(all []crdschema.Schema) crdschema.Schema {
	s := crdschema.Schema{"type": "object"}
	byName := map[string][]crdschema.Schema{}
	var additional []crdschema.Schema
	for _, one := range all {
		for name, p := range properties(one) {
			inner, _ := p.(map[string]any)
			byName[name] = append(byName[name], inner)
		}
		if inner, isSchema := one["additionalProperties"].(map[string]any); isSchema {
			additional = append(additional, inner)
		}
		if isOpen(one) {
			s[preserve] = true
		}
	}
	for name, schemas := range byName {
		either, _ := union(schemas)
		for _, one := range schemas {
			if text, isText := one["description"].(string); isText {
				describe(either, text)
			}
		}
		setProperty(s, name, either)
	}
	if len(additional) > 0 {
		if inner, _ := union(additional); len(byName) == 0 && !isOpen(s) {
			s["additionalProperties"] = map[string]any(inner)
		} else {
			open(s)
		}
	}
	if common := commonRequired(all); len(common) > 0 {
		s["required"] = common
	}
	return s
}

func commonRequired(all []crdschema.Schema) []any {
	common, _ := all[0]["required"].([]any)
	common = slices.Clone(common)
	for _, s := range all[1:] {
		required, _ := s["required"].([]any)
		common = slices.DeleteFunc(common, func(name any) bool { return !slices.Contains(required, name) })
	}
	return common
}
