package crdschema

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Difference is a field that differs between two schemas.
type Difference struct {
	Path     string // spec.size, or spec.ports[].name for the items of a list
	From, To string // its type in each schema, or "" when the schema has no such field
	Required bool   // in the second schema
}

// Differences returns the fields whose values a conversion from one schema to the other
// cannot copy, sorted by path: fields that only one of them has, and fields of different
// types.
func Differences(from, to Schema) []Difference { return differences(from, to, nil, true) }

func differences(from, to Schema, path *field.Path, root bool) []Difference {
	var all []Difference
	names := map[string]bool{}
	for _, s := range []Schema{from, to} {
		properties, _ := s["properties"].(map[string]any)
		for name := range properties {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if root && isObjectKey(name) {
			continue
		}
		a, inFrom := from.property(name)
		b, inTo := to.property(name)
		path := child(path, name)
		switch {
		case inFrom && inTo:
			all = append(all, fieldDifferences(a, b, path)...)
		case inFrom && !to.preservesUnknown():
			all = append(all, Difference{Path: path.String(), From: a.typeName()})
		case inTo && !from.preservesUnknown():
			all = append(all, Difference{Path: path.String(), To: b.typeName(), Required: slices.Contains(to.required(), name)})
		}
	}
	return all
}

// fieldDifferences compares two schemas of one field.
func fieldDifferences(a, b Schema, path *field.Path) []Difference {
	if a.typeName() != b.typeName() {
		return []Difference{{Path: path.String(), From: a.typeName(), To: b.typeName()}}
	}
	all := differences(a, b, path, false)
	if a.items() != nil && b.items() != nil {
		all = append(all, fieldDifferences(a.items(), b.items(), path.Key(""))...)
	}
	ofA, isA := a["additionalProperties"].(map[string]any)
	ofB, isB := b["additionalProperties"].(map[string]any)
	if isA && isB {
		all = append(all, fieldDifferences(ofA, ofB, path.Key("*"))...)
	}
	return all
}

// typeName returns the type for messages.
func (s Schema) typeName() string {
	if s["x-kubernetes-int-or-string"] == true {
		return "integer or string"
	}
	name, _ := s["type"].(string)
	return cmp.Or(name, "value")
}
