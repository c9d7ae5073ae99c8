package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/jsonvalue"
)

// check compares a value with a schema.
func (j *validator) check(s *shape, v any, p path) {
	if s.kind == "" {
		return
	}
	if got := jsonvalue.Type(v); got != s.kind {
		j.refuse(p, ruleSchema, "%s must be %s, not %s%s", p, jsonvalue.WithArticle(s.kind), jsonvalue.WithArticle(got), j.parsedAs(s, p))
		return
	}
	switch s.kind {
	case "object":
		j.checkObject(s, v.(map[string]any), p)
	case "array":
		items := v.([]any)
		if len(items) < s.min {
			j.refuse(p, ruleSchema, "%s is empty", p)
		}
		for i, item := range items {
			j.check(s.items, item, p.in(i))
		}
	case "string":
		if len(s.enum) > 0 && !slices.Contains(s.enum, v.(string)) {
			j.refuse(p, ruleSchema, "%s is %q, and must be one of %s%s", p, v, strings.Join(s.enum, ", "), suggestion(v.(string), s.enum))
		}
	}
}

// parsedAs explains why the engine does not read a plain scalar as a string, or returns
// "".
func (j *validator) parsedAs(s *shape, p path) string {
	n := j.node(p, false)
	if n == nil || s.kind != "string" {
		return ""
	}
	if problem := misread(n); problem != "" {
		return "; " + problem
	}
	return ""
}

func (j *validator) checkObject(s *shape, v map[string]any, p path) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		inner, known := s.keys[name]
		switch {
		case known:
			j.check(inner, v[name], p.in(name))
		case s.rest != nil:
			j.check(s.rest, v[name], p.in(name))
		default:
			j.unknown(s, name, p)
		}
	}
	for _, name := range s.required {
		if _, there := v[name]; !there {
			j.refuse(p, ruleSchema, "%s lacks %s", orConfiguration(p), name)
		}
	}
	switch {
	case len(v) < s.min && len(p) == 0:
		j.refuse(p, ruleSchema, "the configuration has no binding")
	case len(v) < s.min:
		j.refuse(p, ruleSchema, "%s must have %s", p, count(s.min, s.keys))
	case s.max > 0 && len(v) > s.max:
		j.refuse(p, ruleSchema, "%s has more than %d keys", p, s.max)
	}
}

// unknown reports an unknown key at the position of the key.
func (j *validator) unknown(s *shape, name string, p path) {
	known, hint := slices.Sorted(maps.Keys(s.keys)), ""
	if _, versioned := j.values["configVersion"]; !versioned && len(p) == 0 {
		known = append(known, "configVersion")
		if current := j.owner.shape(version1).keys; current[name] != nil {
			hint = ", because it lacks configVersion: v1"
		}
	}
	if hint == "" {
		hint = suggestion(name, known)
	}
	j.add(finding.Finding{Rule: ruleSchema, Severity: finding.Error, Message: fmt.Sprintf("%s has no key %s%s", orConfiguration(p), name, hint)},
		p.in(name), true)
}

func orConfiguration(p path) string {
	if len(p) == 0 {
		return "the configuration"
	}
	return p.String()
}

func count(least int, keys map[string]*shape) string {
	names := slices.Sorted(maps.Keys(keys))
	if least == len(names) {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("at least %d of %s", least, strings.Join(names, ", "))
}

// suggestion returns a question with the most similar known name, or "".
func suggestion(name string, known []string) string {
	if near := fault.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
