package crdschema

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Difference is a field that two schemas do not have in common.
type Difference struct {
	Path     string // spec.size; of an item of a list spec.ports[].name
	From, To string // its type in each, or "" where it is not known
	Required bool   // in the second one
}

// Differences are the fields of which values cannot be carried from one schema to
// another as they are, in order: those that only one has, and those of other types.
func Differences(from, to Schema) []Difference { return differences(from, to, nil, true) }

func differences(from, to Schema, at *field.Path, root bool) []Difference {
	var all []Difference
	names := map[string]bool{}
	for _, s := range []Schema{from, to} {
		properties, _ := s["properties"].(map[string]any)
		for name := range properties {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if root && slices.Contains(objectKeys, name) {
			continue
		}
		a, inFrom := from.property(name)
		b, inTo := to.property(name)
		path := child(at, name)
		switch {
		case inFrom && inTo:
			all = append(all, between(a, b, path)...)
		case inFrom && !to.preserves():
			all = append(all, Difference{Path: path.String(), From: a.typeName()})
		case inTo && !from.preserves():
			all = append(all, Difference{Path: path.String(), To: b.typeName(), Required: slices.Contains(required(to), name)})
		}
	}
	return all
}

// between compares two schemas of one field.
func between(a, b Schema, at *field.Path) []Difference {
	if a.typeName() != b.typeName() {
		return []Difference{{Path: at.String(), From: a.typeName(), To: b.typeName()}}
	}
	all := differences(a, b, at, false)
	if a.items() != nil && b.items() != nil {
		all = append(all, between(a.items(), b.items(), at.Key(""))...)
	}
	ofA, isA := a["additionalProperties"].(map[string]any)
	ofB, isB := b["additionalProperties"].(map[string]any)
	if isA && isB {
		all = append(all, between(ofA, ofB, at.Key("*"))...)
	}
	return all
}

// typeName is the type as a person says it.
func (s Schema) typeName() string {
	if s["x-kubernetes-int-or-string"] == true {
		return "integer or string"
	}
	name, _ := s["type"].(string)
	return cmp.Or(name, "value")
}

// Fit is what of an object the schema has room for: without what it drops and what
// it does not allow. A list stays as a whole or goes as a whole.
func (s Schema) Fit(object map[string]any) map[string]any {
	fitting, _ := s.fit(object, nil).(map[string]any)
	return fitting
}

// fit returns nil for what does not fit.
func (s Schema) fit(v any, at *field.Path) any {
	switch x := v.(type) {
	case map[string]any:
		if kind, isText := s["type"].(string); isText && kind != "object" {
			return nil
		}
		kept := map[string]any{}
		for name, value := range x {
			inner, known := s.property(name)
			switch {
			case at == nil && slices.Contains(objectKeys, name), !known && s.preserves(), known && inner == nil:
				kept[name] = value
			case known:
				if fitting := inner.fit(value, child(at, name)); fitting != nil {
					kept[name] = fitting
				}
			}
		}
		return kept
	case []any:
		kept := []any{}
		for i, item := range x {
			fitting := s.items().fit(item, at.Index(i))
			if fitting == nil {
				return nil
			}
			kept = append(kept, fitting)
		}
		if len(s.validate(kept, at)) > 0 {
			return nil
		}
		return kept
	}
	if len(s.validate(v, at)) > 0 {
		return nil
	}
	return v
}
