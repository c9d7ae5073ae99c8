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

// Sample returns an object with every field of the schema except apiVersion, kind and
// metadata. Values are valid and differ from the defaults where possible, so that a test
// notices when a field is lost. A field without a known valid value is left out.
func (s Schema) Sample() map[string]any {
	b := builder{all: true}
	return b.object(s, nil, 0)
}

// Minimal returns an object with the required fields and those with defaults, except
// apiVersion, kind, metadata and status. unchecked lists conditions that an API server
// checks and this package does not, one per line.
func (s Schema) Minimal() (object map[string]any, unchecked []string) {
	b := builder{}
	b.noteRules(s, nil)
	object = b.object(s, nil, 0)
	return object, b.unchecked
}

// builder makes values that schemas allow.
type builder struct {
	all       bool // all fields, or else the required ones and those with defaults
	unchecked []string
}

// object makes an object. n distinguishes the items of a list.
func (b *builder) object(s Schema, path *field.Path, n int) map[string]any {
	x, required := map[string]any{}, s.requiredOrFirstAlternative()
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		inner, _ := s.property(name)
		if !b.includes(name, inner, required, path == nil) {
			continue
		}
		if v, found := b.value(inner, child(path, name), n); found {
			x[name] = v
		}
	}
	return x
}

// includes reports whether an object gets a field. It always gets a spec.
func (b *builder) includes(name string, s Schema, required []string, root bool) bool {
	switch {
	case root && (isObjectKey(name) || name == "status" && !b.all):
		return false
	case b.all, s["default"] != nil, slices.Contains(required, name):
		return true
	}
	return root && name == "spec" && s["type"] == "object"
}

// requiredOrFirstAlternative returns the required keys, and the keys of the first alternative of anyOf
// and oneOf.
func (s Schema) requiredOrFirstAlternative() []string {
	names := s.required()
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[key].([]any)
		if key != "allOf" {
			list = list[:min(1, len(list))]
		}
		for _, v := range list {
			inner, _ := v.(map[string]any)
			names = append(names, Schema(inner).required()...)
		}
	}
	return names
}

// value makes the value of a field such as spec.size. found is false when no valid value
// is known.
func (b *builder) value(s Schema, path *field.Path, n int) (v any, found bool) {
	b.noteRules(s, path)
	fallback, hasDefault := s["default"]
	candidates, valid := b.candidates(s, path, n), s.valid()
	for _, v := range candidates {
		isDefault := hasDefault && reflect.DeepEqual(wholeNumber(v), wholeNumber(fallback))
		if (!b.all || !isDefault) && valid(v) {
			return v, true
		}
	}
	if b.all {
		return fallback, hasDefault
	}
	if pattern, isText := s["pattern"].(string); isText {
		b.note(path, "it must match "+pattern)
	}
	return candidates[0], true
}

// candidates returns at least one value of the schema's type, the best first.
func (b *builder) candidates(s Schema, path *field.Path, n int) []any {
	given := s["example"]
	if s["default"] != nil && !b.all {
		given = s["default"]
	}
	var all []any
	if given != nil && s["type"] != "object" {
		if all = []any{given}; !b.all {
			return all
		}
	}
	if list, _ := s["enum"].([]any); len(list) > 0 {
		return append(all, list[min(n, len(list)-1):]...)
	}
	switch s["type"] {
	case "object":
		return b.objects(s, path, n, given)
	case "array":
		return append(all, b.list(s, path))
	case "boolean":
		return append(all, b.all, !b.all)
	case "integer", "number":
		return append(all, s.numbers(n)...)
	case "string":
		return append(all, s.texts(n)...)
	}
	switch { // any value is allowed, or any number and text
	case s["x-kubernetes-int-or-string"] == true:
		return append(all, int64(1+n), fmt.Sprint(1+n))
	case b.all:
		return append(all, "example")
	}
	return append(all, map[string]any{})
}

// objects returns an object with all fields, and one with the required ones for schemas
// such as oneOf that do not allow all fields together.
func (b *builder) objects(s Schema, path *field.Path, n int, given any) []any {
	all := []any{b.filled(s, path, n, given)}
	if b.all {
		minimal := builder{}
		all = append(all, minimal.filled(s, path, n, given))
	}
	return all
}

// filled makes an object from the default or the example of the schema. Without one, it
// adds a key where any key is allowed.
func (b *builder) filled(s Schema, path *field.Path, n int, given any) map[string]any {
	x := b.object(s, path, n)
	if preset, isObject := given.(map[string]any); isObject {
		maps.Copy(x, preset)
		return x
	}
	if s.isEmbeddedResource() {
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
		for i := range itemCount(s["minProperties"], s["maxProperties"]) {
			if v, found := b.value(inner, child(path, "example"), i); found {
				x[numbered("example", i)] = v
			}
		}
	} else if b.all && (others == true || s.preservesUnknown()) {
		x["example"] = "value"
	}
	return x
}

func (b *builder) list(s Schema, path *field.Path) []any {
	list := []any{}
	if s.items() == nil {
		return list
	}
	for i := range itemCount(s["minItems"], s["maxItems"]) {
		if item, found := b.value(s.items(), path.Index(i), i); found {
			list = append(list, item)
		}
	}
	return list
}

// noteRules notes the validation rules of a schema.
func (b *builder) noteRules(s Schema, path *field.Path) {
	list, _ := s["x-kubernetes-validations"].([]any)
	for _, v := range list {
		rule, _ := v.(map[string]any)
		message, _ := rule["message"].(string)
		expression, _ := rule["rule"].(string)
		b.note(path, cmp.Or(message, expression))
	}
}

// note adds a condition that the value of a field may not meet.
func (b *builder) note(path *field.Path, condition string) {
	condition = strings.Join(strings.Fields(condition), " ") // on one line
	if path != nil {
		condition = path.String() + ": " + condition
	}
	if !slices.Contains(b.unchecked, condition) {
		b.unchecked = append(b.unchecked, condition)
	}
}

// mostItems is the number of items from which a sample is of no use.
const mostItems = 1000

// itemCount returns the number of items of a list or map: 1 within the bounds, up to mostItems.
func itemCount(least, most any) int {
	n := 1
	if bound, found := number(least); found {
		n = max(n, int(min(bound, mostItems)))
	}
	if bound, found := number(most); found {
		n = min(n, int(bound))
	}
	return n
}

// numbers returns small numbers and the bounds. The first one differs from item to item.
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
	all := []any{wholeNumber(first), wholeNumber(first + step)}
	if high && !low {
		all = append(all, wholeNumber(most))
	}
	if low && high { // when no multiple of step lies between them
		all = append(all, wholeNumber((least+most)/2))
	}
	if high {
		last := math.Floor(most/step) * step
		all = append(all, wholeNumber(last), wholeNumber(last-step))
	}
	if low {
		all = append(all, wholeNumber(least))
	}
	return append(all, int64(0))
}

// wholeNumber returns a number as JSON decoding does: a whole number becomes an integer.
func wholeNumber(v any) any {
	if f, isFloat := v.(float64); isFloat && f == float64(int64(f)) {
		return int64(f)
	}
	return v
}
