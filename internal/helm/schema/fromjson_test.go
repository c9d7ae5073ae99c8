package schema_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/helm/schema"
)

// TestJSONSchema converts the schema of the value v. The findings have neither file nor
// position.
func TestJSONSchema(t *testing.T) {
	t.Parallel()
	const (
		anything = "{x-kubernetes-preserve-unknown-fields: true, nullable: true}"
		openKind = "{type: object, x-kubernetes-preserve-unknown-fields: true}"
	)
	for name, tc := range map[string]struct{ values, in, want, findings string }{
		"string":            {in: `{"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^a", "format": "uri"}`, want: "{type: string, minLength: 1, maxLength: 5, pattern: ^a, format: uri}"},
		"unknown format":    {in: `{"type": "string", "format": "regex"}`, want: "{type: string}", findings: "values-schema-keyword: v.format: the API server does not check the format regex, so the CRD does not have it"},
		"lookahead":         {in: `{"type": "string", "pattern": "^(?!a)"}`, want: "{type: string}", findings: "values-schema-keyword: v.pattern: the API server does not support the regular expression, so the CRD does not have it"},
		"draft 4 bound":     {in: `{"type": "number", "minimum": 0, "exclusiveMinimum": true}`, want: "{type: number, minimum: 0, exclusiveMinimum: true}"},
		"bounds":            {in: `{"type": "integer", "exclusiveMaximum": 9, "multipleOf": 2}`, want: "{type: integer, maximum: 9, exclusiveMaximum: true, multipleOf: 2}"},
		"nullable":          {in: `{"type": ["string", "null"]}`, want: "{type: string, nullable: true}"},
		"int or string":     {in: `{"type": ["integer", "string"]}`, want: "{x-kubernetes-int-or-string: true}"},
		"several types":     {in: `{"type": ["object", "string"]}`, want: "{x-kubernetes-preserve-unknown-fields: true}", findings: "values-open: v: values may have several types (object, string), so it accepts any"},
		"enum":              {in: `{"enum": ["a", "b"]}`, want: "{type: string, enum: [a, b]}"},
		"enum with null":    {in: `{"enum": ["a.b", null]}`, want: `{type: string, nullable: true, pattern: '^(a\.b)$'}`},
		"numbers with null": {in: `{"enum": [1, null]}`, want: "{type: integer, nullable: true}", findings: "values-schema-keyword: v: a CRD cannot have null among other values, so it does not have enum"},
		"enum of several types": {in: `{"enum": [true, "auto"]}`, want: "{x-kubernetes-preserve-unknown-fields: true, enum: [true, auto]}",
			findings: "values-open: v: values may have several types (boolean, string), so it accepts any"},
		"const":                 {in: `{"const": 1}`, want: "{type: integer, enum: [1]}"},
		"description":           {in: `{"type": "integer", "title": "Not used", "description": "Pods.", "default": 2}`, want: "{type: integer, description: 'Pods. Default: 2'}"},
		"default of the values": {values: "v: 3", in: `{"type": "integer", "title": "Pods", "default": 2}`, want: "{type: integer, description: 'Pods. Default: 3'}"},
		"comment":               {values: "# Pods.\nv: 3", in: `{"type": "integer"}`, want: "{type: integer, description: 'Pods. Default: 3'}"},
		"no type":               {values: "v: 3", in: `{}`, want: "{type: integer, description: 'Default: 3'}"},
		"nothing known":         {in: `{}`, want: anything, findings: "values-open: v: the schema does not say a type, so it accepts any value"},
		"true":                  {in: `true`, want: anything, findings: "values-open: v: the schema does not say a type, so it accepts any value"},
		"object without fields": {in: `{"type": "object"}`, want: openKind, findings: "values-open: v: the schema does not name the fields, so it accepts any"},
		"closed object":         {values: "v: {b: 1}", in: `{"type": "object", "additionalProperties": false, "properties": {"b": {"type": "integer"}}}`, want: "{type: object, properties: {b: {type: integer, description: 'Default: 1'}}}"},
		"fields of the values":  {values: "v: {b: 1, c: x}", in: `{"properties": {"b": {"minimum": 0}}}`, want: "{type: object, properties: {b: {type: number, minimum: 0, description: 'Default: 1'}, c: {type: string, description: 'Default: \"x\"'}}}"},
		"required": {values: "v: {b: 1, d: null}", in: `{"required": ["b", "c", "d"], "properties": {"b": {"type": "integer"}, "c": {"type": "string"}, "d": {"type": "string"}}}`,
			want:     "{type: object, required: [c, d], properties: {b: {type: integer, description: 'Default: 1'}, c: {type: string}, d: {type: string}}}",
			findings: "values-misfit: spec.v.c: Required value\nvalues-misfit: spec.v.d: Required value"},
		"map": {in: `{"additionalProperties": {"type": "integer"}, "minProperties": 1}`, want: "{type: object, additionalProperties: {type: integer}, minProperties: 1}"},
		"fields and map": {in: `{"properties": {"b": {"type": "string"}}, "additionalProperties": {"type": "integer"}}`, want: "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: string}}}",
			findings: "values-open: v.additionalProperties: a CRD cannot have both named fields and a schema for others, so it accepts any other field"},
		"pattern properties": {in: `{"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": false}`, want: "{type: object, additionalProperties: {type: string}}",
			findings: "values-schema-keyword: v.patternProperties: the CRD does not check the names of the fields"},
		"list": {in: `{"items": {"type": "string"}, "maxItems": 2, "uniqueItems": true}`, want: "{type: array, items: {type: string}, maxItems: 2}",
			findings: "values-schema-keyword: v.uniqueItems: a CRD cannot express it; Helm checks it when it renders the chart"},
		"tuple": {in: `{"type": "array", "items": [{"type": "string"}]}`, want: "{type: array, items: " + anything + "}",
			findings: "values-open: v: the schema does not say the type of the items, so they may be anything\nvalues-schema-keyword: v.items: a CRD cannot express it; Helm checks it when it renders the chart"},
		"keywords of several types": {values: "v: [a]", in: `{"additionalProperties": true, "items": {"required": []}, "required": []}`, want: `{type: array, items: ` + anything + `, description: 'Default: ["a"]'}`,
			findings: "values-open: v.items: the schema does not say a type, so it accepts any value"},
		"allOf": {in: `{"allOf": [{"properties": {"b": {"type": "string"}}}, {"required": ["b"]}, {"properties": {"c": {"type": "string"}}, "required": ["c"]}]}`,
			want: "{type: object, properties: {b: {type: string}, c: {type: string}}, required: [c]}"},
		"anyOf null":     {in: `{"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]}`, want: "{type: string, minLength: 1, nullable: true}"},
		"anyOf scalars":  {in: `{"anyOf": [{"type": "string"}, {"type": "integer"}]}`, want: "{x-kubernetes-int-or-string: true}", findings: "values-schema-keyword: v.anyOf: the CRD does not check which alternative applies"},
		"oneOf objects":  {in: `{"oneOf": [{"properties": {"b": {"type": "string", "minLength": 2}}, "required": ["b"]}, {"properties": {"c": {"type": "string"}}}]}`, want: "{type: object, properties: {b: {type: string}, c: {type: string}}}", findings: "values-schema-keyword: v.oneOf: the CRD does not check which alternative applies"},
		"oneOf mixed":    {in: `{"oneOf": [{"type": "boolean"}, {"type": "array"}]}`, want: anything, findings: "values-open: v.oneOf: values may have several types, so it accepts any\nvalues-open: v.oneOf: the schema does not say the type of the items, so they may be anything"},
		"oneOf required": {in: `{"type": "object", "properties": {"b": {"type": "string"}}, "oneOf": [{"required": ["b"]}, {"not": {"required": ["b"]}}]}`, want: "{type: object, properties: {b: {type: string}}}", findings: "values-schema-keyword: v.oneOf: the CRD does not check which alternative applies"},
		"condition": {in: `{"type": "object", "properties": {"b": {"type": "string"}}, "if": {"properties": {"b": {"const": "x"}}}, "then": {"properties": {"c": {"type": "string", "minLength": 3}}, "required": ["c"]}}`,
			want: "{type: object, properties: {b: {type: string}, c: {type: string}}}", findings: "values-schema-keyword: v.if: a CRD cannot express it; Helm checks it when it renders the chart"},
		"reference to itself": {in: `{"type": "object", "allOf": [{"$ref": "#/properties/v"}]}`, want: openKind,
			findings: "values-open: v: the schema does not name the fields, so it accepts any\nvalues-open: v.allOf.$ref: the definition #/properties/v contains itself, so it accepts any value here"},
		"recursion": {in: `{"$ref": "#/$defs/tree"}, "w": {"type": "string"}}, "$defs": {"tree": {"properties": {"name": {"type": "string"}, "left": {"$ref": "#/$defs/tree"}}}`, want: "{type: object, properties: {name: {type: string}, left: {x-kubernetes-preserve-unknown-fields: true}}}",
			findings: "values-open: $defs.tree.left.$ref: the definition #/$defs/tree contains itself, so it accepts any value here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.values == "" {
				tc.values = "{}"
			}
			c := schema.Chart{Values: []byte(tc.values + "\n"), Schema: []byte(`{"type": "object", "additionalProperties": false, "properties": {"v": ` + tc.in + `}}`)}
			r := of(t, c)
			delete(r.Schema["properties"].(map[string]any), "w")
			same(t, r.Schema, "type: object\nproperties: {v: "+tc.want+"}")
			var all []string
			for _, f := range r.Findings {
				if f.Line == 0 || f.Column == 0 {
					t.Errorf("no position: %+v", f)
				}
				all = append(all, f.Rule+": "+f.Message)
			}
			if diff := cmp.Diff(tc.findings, strings.Join(all, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	r := of(t, schema.Chart{Schema: []byte(`{"$id": "https://example.org/values.json", "properties": {
		"a": {"$ref": "#/definitions/x~1y%20z"}, "b": {"$ref": "#anchor", "description": "B."}, "c": {"$ref": "https://example.org/values.json#/properties/a"},
		"d": {"type": "string", "deprecated": true}},
		"definitions": {"x/y z": {"type": "integer"}, "other": {"$anchor": "anchor", "type": "string", "description": "Not used."}}}`)})
	same(t, r.Schema, "{type: object, properties: {a: {type: integer}, b: {type: string, description: B.}, c: {type: integer}, d: {type: string}}}")
}

// TestMisfit has defaults that the schema of the chart does not allow, and a required value
// without a default.
func TestMisfit(t *testing.T) {
	t.Parallel()
	r := of(t, schema.Chart{
		Values: []byte("a: 1\nb:\n  c: x # kept\n"),
		Schema: []byte(`{"required": ["d"], "properties": {"a": {"type": "string"}, "b": {"properties": {"c": {"type": "string"}}}, "d": {"type": "string", "minLength": 3}}}`),
	})
	want := `charts/web/values.yaml:1:1:values-misfit:spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"
charts/web/values.yaml:1:1:values-misfit:spec.d: Required value
`
	if diff := cmp.Diff(want, findings(r)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("b:\n  c: x\nd: example\n", string(r.Sample)); diff != "" {
		t.Error(diff)
	}
}
