package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/finding"
)

// objectKeywords converts the keywords for objects. Keys that only values.yaml has are allowed
// too, unless the schema forbids them.
func (s *source) objectKeywords(schema crdschema.Schema, e *element, p place) error {
	if err := s.properties(schema, e, p); err != nil {
		return err
	}
	if err := s.additional(schema, e, p); err != nil {
		return err
	}
	forbidden := e.get("additionalProperties")
	isClosed := forbidden != nil && forbidden.data == false
	if schema["additionalProperties"] == nil && !isClosed && p.value != nil {
		for _, key := range p.value.keys {
			if _, exists := property(schema, key); !exists && !s.inParts(e, key, nil) {
				setProperty(schema, key, s.fromValue(p.value.fields[key]))
			}
		}
	}
	switch {
	case isClosed:
		s.closed[strings.Join(p.path, ".")] = true
	case isOpen(schema), schema["additionalProperties"] != nil:
	case len(properties(schema)) == 0 && !s.hasParts(e, nil):
		s.foundAt(RuleOpen, e, "the schema does not name the fields, so it accepts any")
		open(schema)
	case s.uses.whole(p.path):
		s.foundAt(RuleOpen, e, "a template uses all its fields, so it accepts any")
		open(schema)
	}
	if len(p.path) > 0 || p.inItems || e != s.root {
		s.boundsOfMap(schema, e, p)
	}
	if required := requiredBy(e, p); len(required) > 0 {
		schema["required"] = required
	}
	return nil
}

// boundsOfMap copies the bounds for the number of keys, unless Helm adds keys.
func (s *source) boundsOfMap(schema crdschema.Schema, e *element, p place) {
	if p.value == nil || len(p.value.keys) == 0 {
		s.bounds(schema, e, "minProperties")
	}
	s.bounds(schema, e, "maxProperties")
}

// requiredBy returns the required keys for which values.yaml has no value.
func requiredBy(e *element, p place) []any {
	var required []any
	for _, key := range e.strings("required") {
		if !p.value.field(key).isSet() && !slices.Contains(required, any(key)) {
			required = append(required, key)
		}
	}
	return required
}

func (s *source) properties(schema crdschema.Schema, e *element, p place) error {
	all := e.get("properties")
	if all == nil {
		return nil
	}
	for _, key := range all.keys {
		if all.fields[key].data == false {
			continue
		}
		inner, err := s.convert(all.fields[key], p.field(key))
		if err != nil {
			return err
		}
		setProperty(schema, key, inner)
	}
	return nil
}

// additional converts additionalProperties and patternProperties. A schema of a CRD cannot have
// them together with properties.
func (s *source) additional(schema crdschema.Schema, e *element, p place) error {
	var others []crdschema.Schema
	at, entry := e, p.items()
	if p.value != nil && len(p.value.keys) > 0 { // Helm merges its entries
		entry.value = p.value.fields[p.value.keys[0]]
	}
	if rest := e.get("additionalProperties"); rest != nil && rest.data != false {
		at = rest
		if rest.data == true || len(rest.keys) == 0 {
			s.foundAt(RuleOpen, rest, "the schema allows any other field")
			open(schema)
			return nil
		}
		inner, err := s.convert(rest, entry)
		if err != nil {
			return err
		}
		others = append(others, inner)
	}
	if patterns := e.get("patternProperties"); patterns != nil {
		at = patterns
		for _, pattern := range patterns.keys {
			if patterns.fields[pattern].data == false {
				continue
			}
			inner, err := s.convert(patterns.fields[pattern], entry)
			if err != nil {
				return err
			}
			others = append(others, inner)
		}
		if len(patterns.keys) > 0 {
			s.foundAt(ruleKeyword, patterns, "the CRD does not check the names of the fields")
		}
	}
	if len(others) == 0 {
		return nil
	}
	if len(properties(schema)) > 0 {
		s.foundAt(RuleOpen, at, "a CRD cannot have both named fields and a schema for others, so it accepts any other field")
		open(schema)
		return nil
	}
	either, exact := union(others)
	if !exact {
		s.foundAt(RuleOpen, at, "the other fields may have several types, so they accept any value")
	}
	schema["additionalProperties"] = map[string]any(either)
	return nil
}

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

// dropped are the keywords that restrict values and that a schema of a CRD cannot express.
var dropped = []string{
	"if", "not", "dependencies", "dependentRequired", "dependentSchemas", "propertyNames", "contains", "minContains", "maxContains",
	"prefixItems", "additionalItems", "unevaluatedItems", "unevaluatedProperties", "$dynamicRef", "$recursiveRef", "contentSchema",
}

func (s *source) reportDropped(e *element) {
	for _, key := range e.keys {
		v := e.fields[key]
		if slices.Contains(dropped, key) || key == "uniqueItems" && v.data == true || key == "items" && v.items != nil {
			s.foundAt(ruleKeyword, v, "a CRD cannot express it; Helm checks it when it renders the chart")
		}
	}
}

func (s *source) foundAt(rule finding.Rule, e *element, format string, args ...any) {
	s.found(rule, s.schemaFile, e.line, e.column, "%s: %s", cmp.Or(e.name, "the values"), fmt.Sprintf(format, args...))
}
