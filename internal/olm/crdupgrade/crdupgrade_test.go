//go:build testall

package crdupgrade

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// changed has changes of schemas, and what is reported about them and about the reverse.
var changed = []struct{ name, older, newer, want, reverse string }{
	{"same", "{type: object}", "{type: object}", "", ""},
	{"description", "{description: a}", "{description: b}", "", ""},
	{"type", "{type: integer}", "{type: string}", "type of the object changed from integer to string", "type of the object changed from string to integer"},
	{"type added", "{}", "{type: string}", "type of the object changed from none to string", "type of the object changed from string to none"},
	{"property", "{}", "{properties: {a: {type: string}}}", "", "a was removed"},
	{"property without type", "{}", "{properties: {a: {}}}", "", "a was removed"},
	{"property without name", "{properties: {'': {minimum: 1}}}", "{properties: {'': {minimum: 2}}}", "minimum of . changed from 1 to 2", ""},
	{"object", "{}", "{properties: {a: {type: object, properties: {b: {type: string, default: c}}}}}", "", "a was removed"},
	{"items", "{properties: {a: {}}}", "{properties: {a: {items: {type: string}}}}", "", "a[*] was removed"},
	{"nested", "{properties: {a: {items: {properties: {b: {type: string}}}}}}", "{properties: {a: {items: {properties: {b: {type: integer}}}}}}",
		"type of a[*].b changed from string to integer", "type of a[*].b changed from integer to string"},
	{"enum added", "{}", "{enum: [b, a]}", `enum of the object changed from none to ["b","a"]`, "enum of the object no longer has \"a\", \"b\""},
	{"enum value", "{enum: [a]}", "{enum: [a, b]}", "", `enum of the object no longer has "b"`},
	{"enum replaced", "{enum: [1]}", "{enum: [2]}", "enum of the object no longer has 1", "enum of the object no longer has 2"},
	{"order of an enum", "{enum: [a, b]}", "{enum: [b, a]}", "", ""},
	{"required", "{required: [a]}", "{required: [c, a, b]}", "c became required; b became required", ""},
	{"required below", "{properties: {a: {}}}", "{properties: {a: {required: [b]}}}", "a.b became required", ""},
	{"default", "{default: 1}", "{default: 2}", "default of the object changed from 1 to 2", "default of the object changed from 2 to 1"},
	{"default added", "{}", "{default: {b: 1}}", `default of the object changed from none to {"b":1}`, `default of the object changed from {"b":1} to none`},
	{"minimum", "{minimum: 1}", "{minimum: 2}", "minimum of the object changed from 1 to 2", ""},
	{"fraction", "{minimum: 0.5}", "{minimum: 0.25}", "", "minimum of the object changed from 0.25 to 0.5"},
	{"minimum of 0 added", "{}", "{minimum: 0}", "minimum of the object changed from none to 0", ""},
	{"maximum", "{maximum: 1}", "{maximum: 2}", "", "maximum of the object changed from 2 to 1"},
	{"maximum added", "{}", "{maximum: 2}", "maximum of the object changed from none to 2", ""},
	{"minLength", "{minLength: 1}", "{minLength: 2}", "minLength of the object changed from 1 to 2", ""},
	{"maxLength", "{maxLength: 1}", "{maxLength: 2}", "", "maxLength of the object changed from 2 to 1"},
	{"minItems", "{minItems: 1}", "{minItems: 2}", "minItems of the object changed from 1 to 2", ""},
	{"maxItems", "{maxItems: 1}", "{maxItems: 2}", "", "maxItems of the object changed from 2 to 1"},
	{"minProperties", "{minProperties: 1}", "{minProperties: 2}", "minProperties of the object changed from 1 to 2", ""},
	{"maxProperties", "{maxProperties: 1}", "{maxProperties: 2}", "", "maxProperties of the object changed from 2 to 1"},
	{"large numbers", "{maxLength: -9223372036854775808}", "{maxLength: 9223372036854775807}", "", "maxLength of the object changed from 9223372036854775807 to -9223372036854775808"},
	{"pattern", "{pattern: a}", "{pattern: <b>}", `pattern of the object changed from "a" to "<b>"`, `pattern of the object changed from "<b>" to "a"`},
	{"long pattern", "{}", "{pattern: '" + strings.Repeat("a", 61) + "'}", "pattern of the object changed", "pattern of the object changed"},
	{"format", "{}", "{format: int32}", `format of the object changed from none to "int32"`, `format of the object changed from "int32" to none`},
	{"nullable", "{}", "{nullable: true}", "nullable of the object changed from none to true", "nullable of the object changed from true to none"},
	{"exclusiveMinimum", "{}", "{exclusiveMinimum: true}", "exclusiveMinimum of the object changed from none to true", "exclusiveMinimum of the object changed from true to none"},
	{"multipleOf", "{}", "{multipleOf: 2}", "multipleOf of the object changed from none to 2", "multipleOf of the object changed from 2 to none"},
	{"title", "{}", "{title: a}", `title of the object changed from none to "a"`, `title of the object changed from "a" to none`},
	{"list type", "{}", "{x-kubernetes-list-type: set}", `x-kubernetes-list-type of the object changed from none to "set"`, `x-kubernetes-list-type of the object changed from "set" to none`},
	{"rules", "{}", "{x-kubernetes-validations: [{rule: a}]}", `x-kubernetes-validations of the object changed from none to [{"rule":"a"}]`, `x-kubernetes-validations of the object changed from [{"rule":"a"}] to none`},
	{"unknown fields", "{}", "{x-kubernetes-preserve-unknown-fields: true}", "x-kubernetes-preserve-unknown-fields of the object changed from none to true", "x-kubernetes-preserve-unknown-fields of the object changed from true to none"},
	{"values", "{additionalProperties: {minimum: 1}}", "{additionalProperties: {minimum: 2}}", "minimum of * changed from 1 to 2", `additionalProperties of the object changed from {"minimum":2} to {"minimum":1}`},
	{"description of values", "{additionalProperties: {description: a}}", "{additionalProperties: {description: b}}",
		`additionalProperties of the object changed from {"description":"a"} to {"description":"b"}`, `additionalProperties of the object changed from {"description":"b"} to {"description":"a"}`},
	{"values of values", "{additionalProperties: {additionalProperties: {type: string}}}", "{additionalProperties: {additionalProperties: {type: integer}}}",
		"type of *.* changed from string to integer", "type of *.* changed from integer to string"},
	{"list to map", "{items: {type: string}}", "{additionalProperties: {type: string}}",
		`additionalProperties of the object changed from none to {"type":"string"}; [*] was removed`, `additionalProperties of the object changed from {"type":"string"} to none`},
	{"integer or string", "{type: string}", "{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}",
		`type of the object changed from string to none; anyOf of the object changed from none to [{"type":"integer"},{"type":"string"}]; x-kubernetes-int-or-string of the object changed from none to true`,
		`type of the object changed from none to string; anyOf of the object changed from [{"type":"integer"},{"type":"string"}] to none; x-kubernetes-int-or-string of the object changed from true to none`},
	{"default with anyOf", "{default: 1, anyOf: [{type: integer}, {type: string}]}", "{default: 2, anyOf: [{type: integer}, {type: string}]}",
		"default of the object changed from 1 to 2", "default of the object changed from 2 to 1"},
	{"oneOf added", "{}", "{oneOf: [{required: [a]}]}", `oneOf of the object changed from none to [{"required":["a"]}]`, `oneOf of the object changed from [{"required":["a"]}] to none`},
	{"alternative added", "{oneOf: [{minimum: 1}]}", "{oneOf: [{minimum: 1}, {minimum: 2}]}",
		`oneOf of the object changed from [{"minimum":1}] to [{"minimum":1},{"minimum":2}]`, `oneOf of the object changed from [{"minimum":1},{"minimum":2}] to [{"minimum":1}]`},
	{"alternative", "{oneOf: [{minimum: 1}, {minimum: 2}]}", "{oneOf: [{minimum: 1}, {minimum: 3}]}", "minimum of oneOf[1] changed from 2 to 3", `oneOf of the object changed from [{"minimum":1},{"minimum":3}] to [{"minimum":1},{"minimum":2}]`},
	{"nested alternative", "{properties: {a: {anyOf: [{properties: {b: {minimum: 1}}}]}}}", "{properties: {a: {anyOf: [{properties: {b: {minimum: 2}}}]}}}",
		"minimum of a.anyOf[0].b changed from 1 to 2", `anyOf of a changed from [{"properties":{"b":{"minimum":2}}}] to [{"properties":{"b":{"minimum":1}}}]`},
	{"property of an alternative", "{anyOf: [{}]}", "{anyOf: [{properties: {a: {}}}]}", `anyOf of the object changed from [{}] to [{"properties":{"a":{}}}]`, "anyOf[0].a was removed"},
	{"allOf", "{allOf: [{minLength: 1}]}", "{allOf: [{minLength: 2}]}", "minLength of allOf[0] changed from 1 to 2", `allOf of the object changed from [{"minLength":2}] to [{"minLength":1}]`},
	{"not", "{not: {minLength: 1}}", "{not: {minLength: 2}}", "minLength of not changed from 1 to 2", `not of the object changed from {"minLength":2} to {"minLength":1}`},
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, c := range changed {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			older, newer := crd(t, "v1: "+c.older), crd(t, "v1: "+c.newer)
			check(t, older, newer, prefixed("in v1, ", c.want))
			check(t, newer, older, prefixed("in v1, ", c.reverse))
		})
	}
}

// TestConversion compares the versions of one CRD. The changes are the same ones, but properties
// that a version lacks may have no type and no values.
func TestConversion(t *testing.T) {
	t.Parallel()
	for _, c := range changed {
		older, newer := crd(t, "v1: "+c.older), crd(t, "v1alpha1: "+c.older+"\nv1: "+c.newer)
		want := prefixed("in v1, ", c.want) + prefixed("; between v1alpha1 and v1, ", c.want)
		want = strings.ReplaceAll(strings.TrimPrefix(want, "; "), "; ; ", "; ")
		t.Run(c.name, func(t *testing.T) { check(t, older, newer, want) })
	}
}

func prefixed(prefix, list string) string {
	if list == "" {
		return ""
	}
	return prefix + strings.ReplaceAll(list, "; ", "; "+strings.TrimPrefix(prefix, "; "))
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, older, newer, want string }{
		{"stored version", "v1: {}", "v2: {}", "the stored version v1 was removed"},
		{"version", "v1: {}\nv1beta1: {}", "v1: {}", ""},
		{"version added", "v1: {minimum: 1}", "v1: {minimum: 1}\nv1beta1: {minimum: 2}", ""},
		{"stricter version added", "v1: {minimum: 1}", "v1: {minimum: 1}\nv2: {minimum: 2}", "between v1 and v2, minimum of the object changed from 1 to 2"},
		{"property between versions", "v1: {}", "v1: {}\nv1beta1: {properties: {a: {type: object, properties: {b: {type: string}}}}}", "between v1beta1 and v1, a was removed"},
		{"property between versions without type", "v1: {}", "v1: {}\nv1beta1: {properties: {a: {}}}", ""},
		{"known difference", "v1: {minimum: 2}\nv1beta1: {minimum: 1}", "v1: {minimum: 2, description: a}\nv1beta1: {minimum: 1}", ""},
		{"other difference", "v1: {minimum: 3}\nv1beta1: {minimum: 1}", "v1: {minimum: 2}\nv1beta1: {minimum: 1}", "between v1beta1 and v1, minimum of the object changed from 1 to 2"},
		{"known required properties", "v1: {required: [a, b, c]}\nv1beta1: {}", "v1: {required: [c, b, a]}\nv1beta1: {}", ""},
		{"known pattern", "v1: {pattern: a, format: byte}\nv1beta1: {format: byte}", "v1: {pattern: a}\nv1beta1: {}", "in v1, format of the object changed from \"byte\" to none; in v1beta1, format of the object changed from \"byte\" to none"},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, crd(t, c.older), crd(t, c.newer), c.want) })
	}
	webhook := crd(t, "v1: {minimum: 1}\nv2: {minimum: 2}")
	webhook.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
	check(t, crd(t, "v1: {minimum: 1}"), webhook, "")
	cluster := crd(t, "v1: {}")
	cluster.Spec.Scope = apiextensionsv1.ClusterScoped
	check(t, crd(t, "v1: {}"), cluster, "the scope changed from Namespaced to Cluster")
	empty := crd(t, "v1: {}")
	empty.Spec.Versions[0].Schema = nil
	check(t, crd(t, "v1: {properties: {a: {}}}"), empty, "in v1, a was removed")
}

// crd returns a CRD with the schemas of versions, which the API server serves. It stores the first.
func crd(t *testing.T, versions string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	for line := range strings.Lines(versions) {
		name, schema, _ := strings.Cut(line, ": ")
		v := version(new(apiextensionsv1.JSONSchemaProps))
		v.Name, v.Served, v.Storage = name, true, len(crd.Spec.Versions) == 0
		if err := yaml.UnmarshalStrict([]byte(schema), v.Schema.OpenAPIV3Schema); err != nil {
			t.Fatal(err)
		}
		crd.Spec.Versions = append(crd.Spec.Versions, v)
	}
	return crd
}

// check compares the changes with the expected texts, and with the verdicts of crdify. Each
// path must exist in the new CRD but for what was removed.
func check(t *testing.T, older, newer *apiextensionsv1.CustomResourceDefinition, want string) {
	t.Helper()
	var got []string
	for _, c := range Compare(older, newer) {
		got = append(got, c.Text)
		if len(c.Path) < 2 || c.Path[0] != "spec" {
			t.Errorf("%s: path %v", c.Text, c.Path)
		}
	}
	if diff := cmp.Diff(want, strings.Join(got, "; ")); diff != "" {
		t.Error(diff)
	}
	checkVerdicts(t, older, newer)
}

func TestPath(t *testing.T) {
	t.Parallel()
	for newer, want := range map[string]string{
		"{properties: {a: {minLength: 1, items: {properties: {b: {}}}}}}":            "properties a minLength",
		"{properties: {a: {items: {properties: {}}}}}":                               "properties a items",
		"{properties: {a: {required: [b, c], items: {properties: {b: {}}}}}}":        "properties a required 1",
		"{properties: {a: {items: {properties: {b: {}}, oneOf: [{type: object}]}}}}": "properties a items oneOf",
	} {
		changes := Compare(crd(t, "v0: {}\nv1: {properties: {a: {required: [b], items: {properties: {b: {}}}}}}"), crd(t, "v0: {}\nv1: "+newer))
		got := make([]string, 0, 1)
		for _, c := range changes {
			got = append(got, strings.Trim(fmt.Sprint(c.Path), "[]"))
		}
		if diff := cmp.Diff([]string{"spec versions 1 schema openAPIV3Schema " + want}, got); diff != "" {
			t.Errorf("%s: %s", newer, diff)
		}
	}
}
