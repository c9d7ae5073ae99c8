package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
)

// checkSchema validates a value with a schema.
func (v *validator) checkSchema(s *jsonSchema, value any, p path) {
	if s.typ == "" {
		return
	}
	if got := jsonvalue.Type(value); got != s.typ {
		v.report(p, ruleSchema, "%s must be %s, not %s%s", p, jsonvalue.WithArticle(s.typ), jsonvalue.WithArticle(got), v.misreadHint(s, p))
		return
	}
	switch s.typ {
	case "object":
		v.checkObject(s, value.(map[string]any), p)
	case "array":
		items := value.([]any)
		if len(items) < s.min {
			v.report(p, ruleSchema, "%s is empty", p)
		}
		for i, item := range items {
			v.checkSchema(s.items, item, p.in(i))
		}
	case "string":
		if text := value.(string); len(s.enum) > 0 && !slices.Contains(s.enum, text) {
			v.report(p, ruleSchema, "%s is %q, but must be one of %s%s", p, text, strings.Join(s.enum, ", "), fault.DidYouMean(text, s.enum))
		}
	}
}

// misreadHint explains why the engine does not read a plain scalar as a string, or returns
// "".
func (v *validator) misreadHint(s *jsonSchema, p path) string {
	n := v.node(p, false)
	if n == nil || s.typ != "string" {
		return ""
	}
	if problem := misread(n, ""); problem != "" {
		return "; " + problem
	}
	return ""
}

func (v *validator) checkObject(s *jsonSchema, object map[string]any, p path) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		inner, known := s.properties[name]
		switch {
		case known:
			v.checkSchema(inner, object[name], p.in(name))
		case s.additional != nil:
			v.checkSchema(s.additional, object[name], p.in(name))
		default:
			v.unknownKey(s, name, p)
		}
	}
	for _, name := range s.required {
		if _, exists := object[name]; !exists {
			v.report(p, ruleSchema, "%s lacks %s", orConfiguration(p), name)
		}
	}
	switch {
	case len(object) < s.min && len(p) == 0:
		v.report(p, ruleSchema, "the configuration has no binding")
	case len(object) < s.min:
		v.report(p, ruleSchema, "%s must have %s", p, requiredKeys(s.min, s.properties))
	case s.max > 0 && len(object) > s.max:
		v.report(p, ruleSchema, "%s has more than %d keys", p, s.max)
	}
}

// unknownKey reports an unknown key at the position of the key.
func (v *validator) unknownKey(s *jsonSchema, name string, p path) {
	known, hint := slices.Sorted(maps.Keys(s.properties)), ""
	if _, hasVersion := v.values["configVersion"]; !hasVersion && len(p) == 0 {
		known = append(known, "configVersion")
		if current := v.owner.withSteps(schemaV1).properties; current[name] != nil {
			hint = ", because it lacks configVersion: v1"
		}
	}
	if hint == "" {
		hint = fault.DidYouMean(name, known)
	}
	line, column := v.position(p.in(name), true)
	v.add(ruleSchema.At("", line, column, "%s has no key %s%s", orConfiguration(p), name, hint))
}

// orConfiguration returns a path for messages.
func orConfiguration(p path) string {
	if len(p) == 0 {
		return "the configuration"
	}
	return p.String()
}

// requiredKeys describes an object that must have at least n of the known keys.
func requiredKeys(n int, known map[string]*jsonSchema) string {
	names := slices.Sorted(maps.Keys(known))
	if n == len(names) {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("at least %d of %s", n, strings.Join(names, ", "))
}
