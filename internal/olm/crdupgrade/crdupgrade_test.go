package crdupgrade

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// crd returns a CRD with the schemas of versions, which the API server serves. It stores the first.
func crd(t *testing.T, versions string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	for line := range strings.Lines(versions) {
		name, schema, _ := strings.Cut(line, ": ")
		v := apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: true, Storage: len(crd.Spec.Versions) == 0}
		if schema = strings.TrimSpace(schema); schema != "" {
			v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{}}
			if err := yaml.UnmarshalStrict([]byte(schema), v.Schema.OpenAPIV3Schema); err != nil {
				t.Fatal(err)
			}
		}
		crd.Spec.Versions = append(crd.Spec.Versions, v)
	}
	return crd
}

func texts(all []Change) string {
	var lines []string
	for _, c := range all {
		lines = append(lines, c.Rule+" "+c.String())
	}
	return strings.Join(lines, "\n")
}

// TestCompare covers what operon does around crdify, once for each kind of change.
func TestCompare(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ older, newer, want string }{
		"compatible":                     {"v1: {description: a, minimum: 2}", "v1: {description: b, minimum: 1, properties: {a: {type: string}}}", ""},
		"keyword":                        {"v1: {properties: {a: {minimum: 1}}}", "v1: {properties: {a: {minimum: 2}}}", "minimum v1: a: minimum increased: 1 -> 2"},
		"enum":                           {"v1: {enum: [a]}", "v1: {enum: [a, b]}", ""},
		"required names are sorted":      {"v1: {}", "v1: {required: [c, a, b]}", "required v1: new required fields: a, b, c"},
		"other keyword":                  {"v1: {properties: {a: {}}}", "v1: {properties: {a: {format: int32}}}", `unhandled v1: a: unhandled changes found: - Format: "", + Format: "int32",`},
		"removed property":               {"v1: {properties: {a: {type: object, default: {}, properties: {b: {type: string}}}, ab: {}}}", "v1: {properties: {ab: {}}}", "existingFieldRemoval v1: a: removed field"},
		"removed items":                  {"v1: {properties: {a: {items: {type: string}}}}", "v1: {properties: {a: {}}}", "existingFieldRemoval v1: a.items: removed field"},
		"schema without schema":          {"v1: {properties: {a: {}}}", "v1: ", "existingFieldRemoval v1: a: removed field"},
		"stored version":                 {"v1: {}", "v2: {}", "storedVersionRemoval stored versions removed: [v1]"},
		"versions":                       {"v1: {minimum: 1}", "v1: {minimum: 1}\nv2: {minimum: 2}", "minimum v1 -> v2: minimum increased: 1 -> 2"},
		"known difference":               {"v1: {minimum: 2}\nv1beta1: {minimum: 1}", "v1: {minimum: 2, description: a}\nv1beta1: {minimum: 1}", ""},
		"known difference in any order":  {"v1: {required: [a, b, c, d]}\nv1beta1: {}", "v1: {required: [d, c, b, a]}\nv1beta1: {}", ""},
		"known difference of any format": {"v1: {format: a}\nv1beta1: {format: b}", "v1: {format: a}\nv1beta1: {format: b}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 10 { // the texts of crdify differ
				if diff := cmp.Diff(tt.want, texts(Compare(crd(t, tt.older), crd(t, tt.newer)))); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
	older, webhook := crd(t, "v1: {minimum: 1}"), crd(t, "v1: {minimum: 1}\nv2: {minimum: 2}")
	webhook.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
	webhook.Spec.Scope = apiextensionsv1.ClusterScoped
	if diff := cmp.Diff(`scope scope changed: "Namespaced" -> "Cluster"`, texts(Compare(older, webhook))); diff != "" {
		t.Error(diff)
	}
}

// TestFields leaves out what rejects no value and removes none.
func TestFields(t *testing.T) {
	t.Parallel()
	older := crd(t, "v1: {properties: {a: {type: string, pattern: b, default: b, enum: [b, c]}, d: {type: integer, maximum: 9}, e: {nullable: true}, f: {}}}")
	newer := crd(t, "v1: {required: [a], properties: {a: {type: string, enum: [b]}, d: {type: string, maximum: 8}, e: {required: [g]}}}")
	want := `enum v1: a: allowed enum values removed: ["c"]
maximum v1: d: maximum decreased: 9 -> 8
type v1: d: type changed: "integer" -> "string"
required v1: e: new required fields: g
nullable v1: e: nullable removed: true -> false
existingFieldRemoval v1: f: removed field`
	if diff := cmp.Diff(want, texts(Fields(older, newer))); diff != "" {
		t.Error(diff)
	}
	if got := texts(Fields(crd(t, "v1: {properties: {a: {}}}"), crd(t, "v1: {properties: {a: {nullable: true, default: 1}}}"))); got != "" {
		t.Error(got)
	}
}
