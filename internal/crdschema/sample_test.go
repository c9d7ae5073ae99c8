package crdschema

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// TestMinimalValue makes values within the bounds of their schemas. Examples and defaults
// of a schema come first.
func TestMinimalValue(t *testing.T) {
	t.Parallel()
	for schemaText, want := range map[string]string{
		"{type: integer}":                                                       `1`,
		"{type: integer, minimum: 0}":                                           `1`,
		"{type: integer, minimum: 5, exclusiveMinimum: true}":                   `6`,
		"{type: integer, maximum: 0}":                                           `0`,
		"{type: integer, maximum: 0, exclusiveMaximum: true}":                   `-1`,
		"{type: integer, minimum: 7, multipleOf: 5}":                            `10`,
		"{type: integer, maximum: 7, minimum: 3, multipleOf: 5}":                `5`,
		"{type: number, minimum: 0.5, maximum: 0.75}":                           `0.625`,
		"{type: number, maximum: 0.5}":                                          `0.5`,
		"{type: boolean}":                                                       `false`,
		"{type: boolean, default: true}":                                        `true`,
		"{type: string}":                                                        `"example"`,
		"{type: string, example: me}":                                           `"me"`,
		"{type: string, enum: [b, a]}":                                          `"b"`,
		"{type: string, enum: [b, a], default: a}":                              `"a"`,
		"{type: string, maxLength: 3}":                                          `"exa"`,
		"{type: string, minLength: 9}":                                          `"exampleex"`,
		"{type: string, format: ipv4}":                                          `"10.0.0.1"`,
		"{type: string, pattern: '^v\\d+$'}":                                    `"v1"`,
		"{type: string, pattern: '^[a-f0-9]{6}(-rc)?$'}":                        `"aaaaaa"`,
		"{type: string, pattern: '^(blue|green)-[0-9]+$'}":                      `"blue-0"`,
		"{type: array, items: {type: string}}":                                  `["example"]`,
		"{type: array, items: {type: string}, minItems: 2}":                     `["example","example-2"]`,
		"{type: array, items: {type: integer, minimum: 4}, minItems: 2}":        `[4,5]`,
		"{type: array, items: {type: string, pattern: '^[a-z]$'}, minItems: 2}": `["a","b"]`,
		"{type: object}":                                                        `{}`,
		"{type: object, additionalProperties: {type: string}}":                  `{"example":"example"}`,
		"{type: object, default: {a: 1}, required: [b], properties: {b: {type: string}, a: {type: integer}}}":           `{"a":1,"b":"example"}`,
		"{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}": `{"a":"example"}`,
		"{type: object, properties: {a: {type: object, properties: {deep: {type: string, default: x}}}}}":               `{}`,
		"{x-kubernetes-int-or-string: true}":                                                                         `1`,
		"{x-kubernetes-preserve-unknown-fields: true}":                                                               `{}`,
		"{type: object, x-kubernetes-embedded-resource: true}":                                                       `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"example"}}`,
		"{type: object, x-kubernetes-embedded-resource: true, required: [data], properties: {data: {type: object}}}": `{"apiVersion":"v1","data":{},"kind":"ConfigMap","metadata":{"name":"example"}}`,
	} {
		b := builder{}
		got, _ := b.value(schema(t, schemaText), field.NewPath("spec"), 0)
		if got := text(t, got); got != want || len(b.unchecked) > 0 {
			t.Errorf("%s: got %s, unchecked %q, want %s", schemaText, got, b.unchecked, want)
		}
	}
}

func schema(t *testing.T, text string) Schema {
	t.Helper()
	var s Schema
	if err := yaml.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// TestSampleValue makes values that differ from the defaults. The example of a schema
// comes first.
func TestSampleValue(t *testing.T) {
	t.Parallel()
	for schemaText, want := range map[string]string{
		"{type: string, default: example}":                                    `"other"`,
		"{type: string, default: example, example: mine}":                     `"mine"`,
		"{type: string, default: mine, example: mine}":                        `"example"`,
		"{type: string, enum: [a, b], default: a, example: a}":                `"b"`,
		"{type: string, enum: [a], default: a}":                               `"a"`,
		"{type: string, pattern: '^(\\S+ ){4}\\S+$', default: '*/5 * * * *'}": `"0 0 * * *"`,
		"{type: integer, default: 1, maximum: 1}":                             `0`,
		"{type: integer, default: 20, minimum: 15, multipleOf: 10}":           `30`,
		"{type: boolean}":                                                      `true`,
		"{type: boolean, default: true}":                                       `false`,
		"{x-kubernetes-int-or-string: true, default: 1}":                       `"1"`,
		"{x-kubernetes-preserve-unknown-fields: true}":                         `"example"`,
		"{type: object, x-kubernetes-preserve-unknown-fields: true}":           `{"example":"value"}`,
		"{type: object, default: {a: 1}, properties: {a: {type: integer}}}":    `{"a":1}`,
		"{type: object, properties: {a: {type: string, pattern: '^(?!x)y$'}}}": `{}`,
		"{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}": `{"a":"example"}`,
		"{type: string, format: date-time, example: soon}":                                                              `"2030-01-01T00:00:00Z"`,
		"{type: object, example: {a: me}, properties: {a: {type: string}, b: {}}}":                                      `{"a":"me","b":"example"}`,
	} {
		b := builder{all: true}
		got, _ := b.value(schema(t, schemaText), field.NewPath("spec"), 0)
		if got := text(t, got); got != want {
			t.Errorf("%s: got %s, want %s", schemaText, got, want)
		}
	}
}

// TestMinimal leaves out apiVersion, metadata and status, and always has a spec.
func TestMinimal(t *testing.T) {
	t.Parallel()
	object, unchecked := schema(t, `
type: object
required: [apiVersion, status, data]
x-kubernetes-validations: [{rule: self.data != ''}]
properties:
  apiVersion: {type: string}
  metadata: {type: object, default: {}}
  spec: {type: object, properties: {size: {type: integer}, free: {type: integer, default: 5}}}
  data: {type: string}
  more: {type: string}
  status: {type: object, default: {}}
`).Minimal()
	if got, want := text(t, object), `{"data":"example","spec":{"free":5}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := []string{"self.data != ''"}; !slices.Equal(unchecked, want) {
		t.Errorf("unchecked %q, want %q", unchecked, want)
	}
}

// TestMinimalListsUncheckedConditions lists conditions that the value may not meet.
func TestMinimalListsUncheckedConditions(t *testing.T) {
	t.Parallel()
	for schemaText, want := range map[string]string{
		`{type: string, pattern: '^(?!x)y$'}`:                                        "spec: it must match ^(?!x)y$",
		`{type: string, pattern: '^z*$', minLength: 2}`:                              "spec: it must match ^z*$",
		"{type: string, x-kubernetes-validations: [{rule: 'self != \"example\"'}]}":  `spec: self != "example"`,
		"{type: object, x-kubernetes-validations: [{rule: x, message: 'a\n\n  b'}]}": "spec: a b",
	} {
		b := builder{}
		b.value(schema(t, schemaText), field.NewPath("spec"), 0)
		if want := []string{want}; !slices.Equal(b.unchecked, want) {
			t.Errorf("%s: unchecked %q, want %q", schemaText, b.unchecked, want)
		}
	}
}
