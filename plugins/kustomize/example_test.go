package kustomize

import (
	"encoding/json"
	"testing"

	kyaml "sigs.k8s.io/yaml"
)

// Examples keep to the bounds of their schema, and are its own words where it has some.
func TestExample(t *testing.T) {
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
		"{x-kubernetes-int-or-string: true}":                   `1`,
		"{x-kubernetes-preserve-unknown-fields: true}":         `{}`,
		"{type: object, x-kubernetes-embedded-resource: true}": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"example"}}`,
	} {
		var s schema
		if err := kyaml.UnmarshalStrict([]byte(schemaText), &s); err != nil {
			t.Fatalf("%s: %v", schemaText, err)
		}
		x := &example{}
		got, err := json.Marshal(x.value(s, "spec", 0))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want || len(x.unsure) > 0 {
			t.Errorf("%s: got %s, unsure of %q, want %s", schemaText, got, x.unsure, want)
		}
	}
}

// What no example comes up to is said.
func TestExampleIsUnsure(t *testing.T) {
	t.Parallel()
	for schemaText, want := range map[string]string{
		`{type: string, pattern: '^(?!x)y$'}`:                                        "spec: it must match ^(?!x)y$",
		"{type: string, x-kubernetes-validations: [{rule: 'self != \"example\"'}]}":  `spec: self != "example"`,
		"{type: object, x-kubernetes-validations: [{rule: x, message: 'a\n\n  b'}]}": "spec: a b",
	} {
		var s schema
		if err := kyaml.Unmarshal([]byte(schemaText), &s); err != nil {
			t.Fatal(err)
		}
		x := &example{}
		x.value(s, "spec", 0)
		if len(x.unsure) != 1 || x.unsure[0] != want {
			t.Errorf("%s: unsure of %q, want %q", schemaText, x.unsure, want)
		}
	}
}
