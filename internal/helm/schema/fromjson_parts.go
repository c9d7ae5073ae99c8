package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
)

// parts are the schemas that also describe the value of e.
func (s *source) parts(e *element) []*element {
	var all []*element
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if list := e.get(key); list != nil {
			all = append(all, list.items...)
		}
	}
	for _, key := range []string{"if", "then", "else"} {
		if part := e.get(key); part != nil {
			all = append(all, part)
		}
	}
	if name := e.text("$ref"); strings.HasPrefix(name, "#") {
		if target := s.root.resolve(name); target != nil {
			all = append(all, target)
		}
	}
	return all
}

// hasParts reports whether one of the parts of a schema describes fields.
func (s *source) hasParts(e *element, seen []*element) bool {
	return slices.ContainsFunc(s.parts(e), func(part *element) bool {
		return !slices.Contains(seen, part) && (part.get("properties") != nil || s.hasParts(part, append(seen, part)))
	})
}

// inParts reports whether one of the parts of a schema describes a key.
func (s *source) inParts(e *element, key string, seen []*element) bool {
	return slices.ContainsFunc(s.parts(e), func(part *element) bool {
		if slices.Contains(seen, part) {
			return false
		}
		return part.get("properties").get(key) != nil || s.inParts(part, key, append(seen, part))
	})
}

// combine adds the parts of a schema: all of allOf, the union of the alternatives, and what
// conditions say about fields that are not described elsewhere.
func (s *source) combine(schema crdschema.Schema, e *element, p place) error {
	if list := e.get("allOf"); list != nil {
		for _, part := range list.items {
			inner, err := s.part(part, p)
			if err != nil {
				return err
			}
			merge(schema, inner)
			addRequired(schema, inner)
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list := e.get(key); list != nil && len(list.items) > 0 {
			if err := s.alternatives(schema, list, p); err != nil {
				return err
			}
		}
	}
	for _, key := range []string{"if", "then", "else"} {
		if part := e.get(key); part.isObject() {
			inner, err := s.part(part, p)
			if err != nil {
				return err
			}
			merge(schema, withoutConditions(inner))
		}
	}
	return nil
}

// part converts a schema that describes only a part of a value: it may leave the rest open.
func (s *source) part(e *element, p place) (crdschema.Schema, error) {
	if !e.isObject() || !s.says(e) {
		return crdschema.Schema{}, nil
	}
	return s.convert(e, place{path: p.path, value: p.value, inItems: p.inItems, refs: p.refs})
}

// says reports whether a schema describes types, in itself or in its parts.
func (s *source) says(e *element) bool {
	types, _ := s.typeNames(e, nil)
	onlyRequired := e.get("type") == nil && e.get("required") != nil && e.get("properties") == nil
	return len(types) > 0 && !onlyRequired || e.get("$ref") != nil || slices.ContainsFunc(s.parts(e), s.says)
}

func addRequired(schema, part crdschema.Schema) {
	required, _ := schema["required"].([]any)
	more, _ := part["required"].([]any)
	for _, name := range more {
		if !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	if len(required) > 0 {
		schema["required"] = required
	}
}

// alternatives adds the union of anyOf or oneOf.
func (s *source) alternatives(schema crdschema.Schema, list *element, p place) error {
	var all []crdschema.Schema
	for _, alternative := range list.items {
		if alternative.text("type") == "null" {
			schema["nullable"] = true
			continue
		}
		if !alternative.isObject() || !s.says(alternative) { // such as {"required": ["a"]}
			s.foundAt(ruleKeyword, list, "the CRD does not check which alternative applies")
			return nil
		}
		inner, err := s.convert(alternative, p)
		if err != nil {
			return err
		}
		if inner["nullable"] == true {
			schema["nullable"] = true
		}
		all = append(all, inner)
	}
	if len(all) == 0 {
		return nil
	}
	either, exact := union(all)
	switch {
	case !exact && !isKnown(schema):
		s.foundAt(RuleOpen, list, "values may have several types, so it accepts any")
	case len(all) > 1:
		s.foundAt(ruleKeyword, list, "the CRD does not check which alternative applies")
	}
	if len(all) > 1 {
		either = withoutConditions(either)
	}
	if schema["type"] == "object" && either["type"] == "object" {
		delete(schema, "additionalProperties")
	}
	if schema["enum"] == nil {
		merge(schema, either)
	}
	return nil
}

// withoutConditions removes what applies only to one of several alternatives. The types stay.
func withoutConditions(s crdschema.Schema) crdschema.Schema {
	kept := maps.Clone(s)
	for _, key := range []string{
		"required", "minProperties", "maxProperties", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength",
	} {
		delete(kept, key)
	}
	if len(properties(s)) > 0 {
		inner := map[string]any{}
		for name, p := range properties(s) {
			object, _ := p.(map[string]any)
			inner[name] = map[string]any(withoutConditions(object))
		}
		kept["properties"] = inner
	}
	return kept
}
