package crdschema

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Values keep to the bounds of their schema, and are its own words where it has some.
func TestLeastValue(t *testing.T) {
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
		m := maker{}
		got, _ := m.value(schema(t, schemaText), field.NewPath("spec"), 0)
		if got := text(t, got); got != want || len(m.unsure) > 0 {
			t.Errorf("%s: got %s, unsure of %q, want %s", schemaText, got, m.unsure, want)
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

// TestSampleValue has values other than the defaults, by the schema's own example
// where that is one.
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
		"{type: boolean}":                                                          `true`,
		"{type: boolean, default: true}":                                           `false`,
		"{x-kubernetes-int-or-string: true, default: 1}":                           `"1"`,
		"{x-kubernetes-preserve-unknown-fields: true}":                             `"example"`,
		"{type: object, x-kubernetes-preserve-unknown-fields: true}":               `{"example":"value"}`,
		"{type: object, default: {a: 1}, properties: {a: {type: integer}}}":        `{"a":1}`,
		"{type: object, properties: {a: {type: string, pattern: '^(?!x)y$'}}}":     `{}`,
		"{type: object, example: {a: me}, properties: {a: {type: string}, b: {}}}": `{"a":"me","b":"example"}`,
	} {
		m := maker{all: true}
		got, _ := m.value(schema(t, schemaText), field.NewPath("spec"), 0)
		if got := text(t, got); got != want {
			t.Errorf("%s: got %s, want %s", schemaText, got, want)
		}
	}
}

// TestLeast leaves out what all objects have and what no user writes, and has a spec.
func TestLeast(t *testing.T) {
	t.Parallel()
	object, unsure := schema(t, `
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
`).Least()
	if got, want := text(t, object), `{"data":"example","spec":{"free":5}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := []string{"self.data != ''"}; !slices.Equal(unsure, want) {
		t.Errorf("unsure of %q, want %q", unsure, want)
	}
}

// What no value comes up to is said.
func TestLeastIsUnsure(t *testing.T) {
	t.Parallel()
	for schemaText, want := range map[string]string{
		`{type: string, pattern: '^(?!x)y$'}`:                                        "spec: it must match ^(?!x)y$",
		`{type: string, pattern: '^z*$', minLength: 2}`:                              "spec: it must match ^z*$",
		"{type: string, x-kubernetes-validations: [{rule: 'self != \"example\"'}]}":  `spec: self != "example"`,
		"{type: object, x-kubernetes-validations: [{rule: x, message: 'a\n\n  b'}]}": "spec: a b",
	} {
		m := maker{}
		m.value(schema(t, schemaText), field.NewPath("spec"), 0)
		if want := []string{want}; !slices.Equal(m.unsure, want) {
			t.Errorf("%s: unsure of %q, want %q", schemaText, m.unsure, want)
		}
	}
}

// TestValidateSteps refuses what lies between multiples, and patterns that are none.
func TestValidateSteps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema string
		value  any
		want   string
	}{
		{"{type: integer, multipleOf: 5}", int64(10), ""},
		{"{type: integer, multipleOf: 5}", int64(0), ""},
		{"{type: number, multipleOf: 0.1}", 0.3, ""},
		{"{type: integer, multipleOf: 5}", int64(12), "x in body should be a multiple of 5"},
		{"{type: number, multipleOf: 0.1}", 0.25, "x in body should be a multiple of 0.1"},
		{"{type: string, pattern: '('}", "(", "x in body should match '(, but pattern is invalid: error parsing regexp: missing closing ): `(`'"},
	} {
		errs := schema(t, c.schema).validate(c.value, field.NewPath("x"))
		if len(errs) > 1 || len(errs) == 1 && errs[0].Detail != c.want || len(errs) == 0 && c.want != "" {
			t.Errorf("%v by %s: got %v, want %q", c.value, c.schema, errs, c.want)
		}
	}
}
