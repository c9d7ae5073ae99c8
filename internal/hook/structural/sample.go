package structural

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Sample is an object with every field that the schema has, but for those that all
// objects have: each with a value that the schema allows, and where possible with
// another than its default, so that a field shows when it is lost. A field is left
// out when none of the values that are tried is allowed.
func (s Schema) Sample() map[string]any { return s.object(true) }

// object is a sample of an object. A root says nothing of the keys of all objects.
func (s Schema) object(root bool) map[string]any {
	x := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	for name := range properties {
		if root && slices.Contains(objectKeys, name) {
			continue
		}
		inner, _ := s.property(name)
		if v, known := inner.sample(); known {
			x[name] = v
		}
	}
	if s.embeds() {
		maps.Copy(x, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "example"}})
	}
	switch others := s["additionalProperties"].(type) {
	case map[string]any:
		if v, known := Schema(others).sample(); known && len(x) == 0 {
			x["example"] = v
		}
	default:
		if (others == true || s.preserves()) && len(x) == 0 && !root {
			x["example"] = "value"
		}
	}
	return x
}

// sample is the first value that is allowed and not the default, or else the default.
func (s Schema) sample() (v any, known bool) {
	fallback, has := s["default"]
	for _, v := range s.candidates() {
		isFallback := has && reflect.DeepEqual(normal(v), normal(fallback))
		if !isFallback && len(s.validate(v, field.NewPath("x"))) == 0 {
			return v, true
		}
	}
	return fallback, has
}

// candidates are values of the schema's type, the likeliest first.
func (s Schema) candidates() []any {
	if list, isList := s["enum"].([]any); isList {
		return list
	}
	switch s["type"] {
	case "object":
		return []any{s.object(false)}
	case "array":
		least, _ := number(s["minItems"])
		list := []any{}
		for range max(1, int(least)) {
			if item, known := s.items().sample(); known {
				list = append(list, item)
			}
		}
		return []any{list}
	case "boolean":
		return []any{true, false}
	case "integer", "number":
		return s.numbers()
	case "string":
		return s.texts()
	}
	if s["x-kubernetes-int-or-string"] == true {
		return []any{int64(1), "1"}
	}
	return []any{"example"} // any value is allowed
}

// numbers are small ones, and those at the bounds.
func (s Schema) numbers() []any {
	all := []any{int64(1), int64(2)}
	for _, key := range []string{"multipleOf", "minimum", "maximum"} {
		if bound, there := number(s[key]); there && key == "multipleOf" {
			all = []any{normal(bound), normal(2 * bound)}
		} else if there {
			all = append(all, normal(bound), normal(bound+1), normal(bound-1))
		}
	}
	return append(all, int64(0))
}

// examples are texts by their format, and those that patterns often ask for.
var (
	byFormat = map[string]string{
		"date": "2026-01-02", "date-time": "2026-01-02T03:04:05Z", "duration": "1m30s", "byte": "ZXhhbXBsZQ==", "email": "someone@example.org",
		"uri": "https://example.org", "hostname": "example.org", "ipv4": "192.0.2.1", "ip": "192.0.2.1", "ipv6": "2001:db8::1", "cidr": "192.0.2.0/24",
		"uuid": "123e4567-e89b-42d3-a456-426614174000", "mac": "00:00:5e:00:53:01", "password": "example",
	}
	examples = []string{"example", "other", "Example", "EXAMPLE", "a", "A", "1", "1Gi", "100m", "10m", "1.2.3", "v1.2.3", "v1", "*/5 * * * *", "0 0 * * *",
		"example.org", "example/example", "example:1.0", "/example", "https://example.org", "someone@example.org", "192.0.2.1", "192.0.2.0/24", "2026-01-02", "12:00", "50%"}
)

func (s Schema) texts() []any {
	var all []any
	if format, isText := s["format"].(string); isText && byFormat[format] != "" {
		all = append(all, byFormat[format])
	}
	least, _ := number(s["minLength"])
	for _, text := range examples {
		if short := int(least) - len(text); short > 0 {
			text += strings.Repeat(text[len(text)-1:], short)
		}
		all = append(all, text)
	}
	return all
}

// normal is a number as it would be read: a whole one as an integer.
func normal(v any) any {
	if f, isFloat := v.(float64); isFloat && f == float64(int64(f)) {
		return int64(f)
	}
	return v
}
