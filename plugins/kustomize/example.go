package kustomize

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"
)

type schema = apiextensionsv1.JSONSchemaProps

// rootKeys are those of every object that a sample has anyway, or that a user does
// not write.
var rootKeys = []string{"apiVersion", "kind", "metadata", "status"}

// example makes values that a schema allows: of what it requires, and of what has a
// default.
type example struct {
	unsure []string // what the API server checks besides, in words
}

// root is what an object of a kind has beside its metadata.
func (x *example) root(s schema) map[string]any {
	s.Properties = maps.Clone(s.Properties)
	maps.DeleteFunc(s.Properties, func(name string, _ schema) bool { return slices.Contains(rootKeys, name) })
	object := x.object(s, "", 0)
	if spec, known := s.Properties["spec"]; known && object["spec"] == nil && spec.Type == "object" {
		object["spec"] = x.value(spec, "spec", 0)
	}
	return object
}

// value is one of a schema at a place, such as spec.size. n tells the items of a
// list apart.
func (x *example) value(s schema, at string, n int) any {
	for _, rule := range s.XValidations {
		text := rule.Message
		if text == "" {
			text = rule.Rule
		}
		x.doubt(at, text)
	}
	if len(s.Enum) > 0 && s.Default == nil && s.Example == nil {
		return decoded(&s.Enum[min(n, len(s.Enum)-1)])
	}
	given := decoded(s.Default)
	if given == nil {
		given = decoded(s.Example)
	}
	switch {
	case s.Type == "object":
		return x.complete(s, at, n, given)
	case given != nil:
		return given
	case s.XIntOrString:
		return 1 + n
	}
	switch s.Type {
	case "array":
		return x.list(s, at)
	case "integer":
		return int64(number(s, n))
	case "number":
		return number(s, n)
	case "boolean":
		return false
	case "string":
		text, fits := text(s, n)
		if !fits {
			x.doubt(at, "it must match "+s.Pattern)
		}
		return text
	}
	return map[string]any{} // of any type
}

// doubt notes what the value at a place may not come up to.
func (x *example) doubt(at, what string) {
	what = strings.Join(strings.Fields(what), " ") // on one line
	if at != "" {
		what = at + ": " + what
	}
	if !slices.Contains(x.unsure, what) {
		x.unsure = append(x.unsure, what)
	}
}

// complete is an object, with what a default says of it.
func (x *example) complete(s schema, at string, n int, given any) map[string]any {
	object := x.object(s, at, n)
	if preset, isObject := given.(map[string]any); isObject {
		maps.Copy(object, preset)
		return object
	}
	if extra := s.AdditionalProperties; extra != nil && extra.Schema != nil && len(s.Properties) == 0 {
		for i := range atLeast(s.MinProperties, s.MaxProperties) {
			object[numbered("example", i)] = x.value(*extra.Schema, at+".example", i)
		}
	}
	if s.XEmbeddedResource && len(object) == 0 {
		object = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": numbered("example", n)}}
	}
	return object
}

// object has the properties that must be there, and those with a default.
func (x *example) object(s schema, at string, n int) map[string]any {
	needed := slices.Clone(s.Required)
	for _, all := range s.AllOf {
		needed = append(needed, all.Required...)
	}
	for _, either := range [][]schema{s.AnyOf, s.OneOf} { // the first of them will do
		if len(either) > 0 {
			needed = append(needed, either[0].Required...)
		}
	}
	object := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p, place := s.Properties[name], name
		if at != "" {
			place = at + "." + name
		}
		if p.Default != nil || slices.Contains(needed, name) {
			object[name] = x.value(p, place, n)
		}
	}
	return object
}

func (x *example) list(s schema, at string) []any {
	list := []any{}
	if s.Items == nil || s.Items.Schema == nil {
		return list
	}
	for i := range atLeast(s.MinItems, s.MaxItems) {
		list = append(list, x.value(*s.Items.Schema, fmt.Sprintf("%s[%d]", at, i), i))
	}
	return list
}

// atLeast is how many items show what they are, within bounds.
func atLeast(least, most *int64) int {
	n := int64(1)
	if least != nil {
		n = max(n, *least)
	}
	if most != nil {
		n = min(n, *most)
	}
	return int(n)
}

// number is a small number within the bounds of a schema; n numbers differ.
func number(s schema, n int) float64 {
	step := 1.0
	if s.MultipleOf != nil {
		step = *s.MultipleOf
	}
	v := step
	if s.Minimum != nil && (v < *s.Minimum || v == *s.Minimum && s.ExclusiveMinimum) {
		v = math.Ceil(*s.Minimum/step) * step
		if v == *s.Minimum && s.ExclusiveMinimum {
			v += step
		}
	}
	v += float64(n) * step
	if s.Maximum == nil || v < *s.Maximum || v == *s.Maximum && !s.ExclusiveMaximum {
		return v
	}
	v = math.Floor(*s.Maximum/step) * step
	if v == *s.Maximum && s.ExclusiveMaximum {
		v -= step
	}
	if s.Minimum != nil && (v < *s.Minimum || v == *s.Minimum && s.ExclusiveMinimum) { // no step lies between
		v = (*s.Minimum + *s.Maximum) / 2
	}
	return v
}

// decoded is a value of a schema as the API machinery reads it, or nil.
func decoded(raw *apiextensionsv1.JSON) any {
	if raw == nil {
		return nil
	}
	var v any
	if err := json.Unmarshal(raw.Raw, &v); err != nil {
		return nil // it was decoded before
	}
	return v
}
