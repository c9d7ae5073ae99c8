package module

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kyaml "sigs.k8s.io/yaml"
)

// TestNames checks the names of modules and the keys of their values.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		folder, name, key string
		order             int
		valid             bool
	}{
		{"010-cert-manager", "cert-manager", "certManager", 10, true},
		{"web", "web", "web", 1, true},
		{"0999-x", "x", "x", 999, true},
		{"99999999999-x", "x", "x", 1, true},
		{"5-a-b-c", "a-b-c", "aBC", 5, false},
		{"010-web2", "web2", "web2", 10, true},
		{"010-web-2", "web-2", "web2", 10, false},
		{"010-Web", "Web", "web", 10, false},
		{"010-web_one", "web_one", "webOne", 10, false},
		{".git", ".git", "git", 1, false},
		{"010-a\nb", "a\nb", "aB", 10, false},
	} {
		name, order := ParseFolder(tc.folder)
		if problem := CheckName(name); name != tc.name || order != tc.order || Key(name) != tc.key || (problem == "") != tc.valid {
			t.Errorf("%s: %s, %d, %s, %q", tc.folder, name, order, Key(name), problem)
		}
	}
}

// object parses YAML.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := kyaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestMerge checks that objects are merged, and that the layers do not change.
func TestMerge(t *testing.T) {
	t.Parallel()
	base := object(t, "{a: 1, b: {c: 1, d: [1]}, e: {f: 1}, g: 1}")
	got := merge(base, object(t, "{a: null, b: {d: [2]}, e: 5, g: {h: 1}}"), nil)
	if diff := cmp.Diff(object(t, "{a: null, b: {c: 1, d: [2]}, e: 5, g: {h: 1}}"), got); diff != "" {
		t.Error(diff)
	}
	got["b"].(map[string]any)["c"] = 2
	if diff := cmp.Diff(object(t, "{a: 1, b: {c: 1, d: [1]}, e: {f: 1}, g: 1}"), base); diff != "" {
		t.Errorf("the layers changed: %s", diff)
	}
}

const configSchema = `
type: object
required: [project]
properties:
  project: {type: string}
  replicas: {type: integer, default: 1, minimum: 1}
  deep: {type: object, properties: {level: {type: string, default: low}}}
  list: {type: array, items: {type: object, properties: {n: {type: integer, default: 7}}}}
  free: {type: object, additionalProperties: true, properties: {x: {type: object}}}
  ref: {$ref: "#/definitions/port"}
definitions:
  port: {type: integer, maximum: 9}
`

const valuesSchema = `
x-extend: {schema: config-values.yaml}
type: object
x-required-for-helm: [internal]
properties:
  internal: {type: object, x-required-for-helm: secret, properties: {secret: {type: string}}}
  filled: {type: object, default: {}, properties: {inner: {type: string, default: here}}}
`

// TestEffective checks the precedence of static values, defaults and the ConfigMap.
func TestEffective(t *testing.T) {
	t.Parallel()
	s, err := ParseSchemas([]byte(configSchema), []byte(valuesSchema))
	if err != nil {
		t.Fatal(err)
	}
	v := Values{Key: "web", Static: object(t, "{replicas: 2, deep: {}, list: [{}, {n: 1}]}"), Schemas: s}
	want := "{replicas: 3, deep: {level: low}, list: [{n: 7}, {n: 1}], project: p, filled: {inner: here}}"
	if diff := cmp.Diff(object(t, want), v.effective(object(t, "{project: p, replicas: 3}"))); diff != "" {
		t.Error(diff)
	}
	if violations := v.checkConfig(nil); violations != nil {
		t.Errorf("an empty section must not be validated: %v", violations)
	}
	if violations := v.checkConfig(object(t, "{replicas: 0}")); fmt.Sprint(violations) != "[{[project] is required true} {[replicas] should be greater than or equal to 1 false}]" {
		t.Error(violations)
	}
}

// TestCheckValues checks schema validation, including addon-operator's own rules.
func TestCheckValues(t *testing.T) {
	t.Parallel()
	s, err := ParseSchemas([]byte(configSchema), []byte(valuesSchema))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ values, want string }{
		{"{project: p, internal: {secret: s}}", ""},
		{"{project: p, internal: {secret: s}, free: {any: 1}}", ""},
		{"{project: p, internal: {secret: s}, free: {x: {any: 1}}}", ""}, // subschemas of explicit additionalProperties remain open
		{"{internal: {}}", "internal.secret is required, project is required"},
		{"{project: p, internal: {secret: s, more: 1}}", "internal.more is a forbidden property"},
		{"{project: p, internal: {secret: s}, deep: {other: 1}}", "deep.other is a forbidden property"},
		{"{project: p, internal: {secret: s}, list: [{m: 1}]}", "list.m is a forbidden property"},
		{"{project: p, internal: {secret: s}, ref: 10}", "ref should be less than or equal to 9"},
		{"{project: 1, internal: {secret: s}}", "project must be of type string, not number"},
		{"{project: p, internal: {secret: s}, nope: 1}", "nope is a forbidden property"},
	} {
		var got []string
		for _, v := range checkValues(s.Helm, object(t, tc.values)) {
			got = append(got, strings.Join(v.Path, ".")+" "+v.Message)
		}
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.values, strings.Join(got, ", "), tc.want)
		}
	}
	if violations := checkValues(s.Values, object(t, "{project: p}")); len(violations) > 0 {
		t.Errorf("x-required-for-helm must not affect hooks: %v", violations)
	}
}

// TestParseSchemasErrors checks the errors of ParseSchemas.
func TestParseSchemasErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"a: b: c", "mapping values are not allowed in this context"},
		{"properties: 5", "json: cannot unmarshal"},
		{"$ref: other.yaml#/x", "$ref to other.yaml#/x: only references within the file are supported"},
		{"properties: {x: {$ref: '#/definitions/none'}}", "none"},
	} {
		_, err := ParseSchemas([]byte(tc.text), nil)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.text, err)
		}
	}
}

// TestRules checks that each rule is listed once.
func TestRules(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, r := range Rules() {
		if names[r.Name] || r.Summary == "" {
			content, _ := json.Marshal(r)
			t.Errorf("%s", content)
		}
		names[r.Name] = true
	}
}
