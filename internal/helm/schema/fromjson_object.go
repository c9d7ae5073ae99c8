package schema

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
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
