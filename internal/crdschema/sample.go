package crdschema

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Sample is an object with every field that the schema has, but for those that all
// objects have: each with a value that the schema allows, and where possible with
// another than its default, so that a field shows when it is lost. A field is left
// out when none of the values that are tried is allowed.
func (s Schema) Sample() map[string]any {
	m := maker{all: true}
	return m.object(s, nil, 0)
}

// Least is an object with what the schema requires and what has a default, but for
// what all objects have and for the status, which no user writes. unsure is what it
// may not come up to: what else an API server checks, in words, a line each.
func (s Schema) Least() (object map[string]any, unsure []string) {
	m := maker{}
	m.rules(s, nil)
	object = m.object(s, nil, 0)
	return object, m.unsure
}

// maker makes values that schemas allow.
type maker struct {
	all    bool // for Sample, or else for Least
	unsure []string
}

// object has those fields of a schema that are asked for. n tells the items of a list
// apart.
func (m *maker) object(s Schema, at *field.Path, n int) map[string]any {
	x, needed := map[string]any{}, s.needed()
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		inner, _ := s.property(name)
		if !m.wants(name, inner, needed, at == nil) {
			continue
		}
		if v, known := m.value(inner, child(at, name), n); known {
			x[name] = v
		}
	}
	return x
}

// wants reports whether a field is asked for. A spec is always.
func (m *maker) wants(name string, s Schema, needed []string, root bool) bool {
	switch {
	case root && (slices.Contains(objectKeys, name) || name == "status" && !m.all):
		return false
	case m.all, s["default"] != nil, slices.Contains(needed, name):
		return true
	}
	return root && name == "spec" && s["type"] == "object"
}

// needed are the keys that must be there; of several sets of them the first will do.
func (s Schema) needed() []string {
	names := required(s)
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[key].([]any)
		if key != "allOf" {
			list = list[:min(1, len(list))]
		}
		for _, v := range list {
			inner, _ := v.(map[string]any)
			names = append(names, required(inner)...)
		}
	}
	return names
}

// value is one for a place, such as spec.size, and whether there is one.
func (m *maker) value(s Schema, at *field.Path, n int) (v any, known bool) {
	m.rules(s, at)
	fallback, has := s["default"]
	candidates := m.candidates(s, at, n)
	for _, v := range candidates {
		shows := !m.all || !has || !reflect.DeepEqual(normal(v), normal(fallback))
		if shows && len(s.validate(v, at)) == 0 {
			return v, true
		}
	}
	if m.all {
		return fallback, has
	}
	if pattern, isText := s["pattern"].(string); isText {
		m.doubt(at, "it must match "+pattern)
	}
	return candidates[0], true
}

// candidates are values of the schema's type, the likeliest first. There is one at
// least.
func (m *maker) candidates(s Schema, at *field.Path, n int) []any {
	given := s["example"]
	if s["default"] != nil && !m.all {
		given = s["default"]
	}
	var all []any
	if given != nil && s["type"] != "object" {
		if all = []any{given}; !m.all {
			return all
		}
	}
	if list, _ := s["enum"].([]any); len(list) > 0 {
		return append(all, list[min(n, len(list)-1):]...)
	}
	switch s["type"] {
	case "object":
		return []any{m.filled(s, at, n, given)}
	case "array":
		return append(all, m.list(s, at))
	case "boolean":
		return append(all, m.all, !m.all)
	case "integer", "number":
		return append(all, s.numbers(n)...)
	case "string":
		return append(all, s.texts(n)...)
	}
	switch { // any value is allowed, or any number and text
	case s["x-kubernetes-int-or-string"] == true:
		return append(all, int64(1+n), fmt.Sprint(1+n))
	case m.all:
		return append(all, "example")
	}
	return append(all, map[string]any{})
}

// filled is an object with what the schema itself gives of it, or else with
// something where any keys are allowed.
func (m *maker) filled(s Schema, at *field.Path, n int, given any) map[string]any {
	x := m.object(s, at, n)
	if preset, isObject := given.(map[string]any); isObject {
		maps.Copy(x, preset)
		return x
	}
	if s.embeds() {
		whole := map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}
		maps.Copy(whole, x)
		whole["metadata"] = map[string]any{"name": numbered("example", n)}
		return whole
	}
	if len(x) > 0 {
		return x
	}
	others := s["additionalProperties"]
	if inner, isSchema := others.(map[string]any); isSchema {
		for i := range atLeast(s["minProperties"], s["maxProperties"]) {
			if v, known := m.value(inner, child(at, "example"), i); known {
				x[numbered("example", i)] = v
			}
		}
	} else if m.all && (others == true || s.preserves()) {
		x["example"] = "value"
	}
	return x
}

func (m *maker) list(s Schema, at *field.Path) []any {
	list := []any{}
	if s.items() == nil {
		return list
	}
	for i := range atLeast(s["minItems"], s["maxItems"]) {
		if item, known := m.value(s.items(), at.Index(i), i); known {
			list = append(list, item)
		}
	}
	return list
}

// rules notes those in CEL of a schema.
func (m *maker) rules(s Schema, at *field.Path) {
	list, _ := s["x-kubernetes-validations"].([]any)
	for _, v := range list {
		rule, _ := v.(map[string]any)
		message, _ := rule["message"].(string)
		expression, _ := rule["rule"].(string)
		m.doubt(at, cmp.Or(message, expression))
	}
}

// doubt notes what the value at a place may not come up to.
func (m *maker) doubt(at *field.Path, what string) {
	what = strings.Join(strings.Fields(what), " ") // on one line
	if at != nil {
		what = at.String() + ": " + what
	}
	if !slices.Contains(m.unsure, what) {
		m.unsure = append(m.unsure, what)
	}
}

// atLeast is how many items show what they are, within bounds.
func atLeast(least, most any) int {
	n := 1
	if bound, there := number(least); there {
		n = max(n, int(bound))
	}
	if bound, there := number(most); there {
		n = min(n, int(bound))
	}
	return n
}

// numbers are small ones, and those at the bounds; the first of n differ.
func (s Schema) numbers(n int) []any {
	step, stepped := number(s["multipleOf"])
	if !stepped || step <= 0 {
		step = 1
	}
	least, low := number(s["minimum"])
	most, high := number(s["maximum"])
	first := step
	if low {
		first = max(first, math.Ceil(least/step)*step)
	}
	first += float64(n) * step
	all := []any{normal(first), normal(first + step)}
	if high && !low {
		all = append(all, normal(most))
	}
	if high {
		last := math.Floor(most/step) * step
		all = append(all, normal(last), normal(last-step))
	}
	if low && high { // no step may lie between
		all = append(all, normal((least+most)/2))
	}
	if low {
		all = append(all, normal(least))
	}
	return append(all, int64(0))
}

// normal is a number as it would be read: a whole one as an integer.
func normal(v any) any {
	if f, isFloat := v.(float64); isFloat && f == float64(int64(f)) {
		return int64(f)
	}
	return v
}
