package crdschema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestRefusedOrder expects the same errors in the same order, though the package of API servers iterates over maps, and
// chooses four of the ten rules that cost most.
func TestRefusedOrder(t *testing.T) {
	t.Parallel()
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for i := range 10 {
		spec.Properties[fmt.Sprintf("field%d", i)] = apiextensionsv1.JSONSchemaProps{
			Type:         "array",
			Items:        &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}},
			XValidations: apiextensionsv1.ValidationRules{{Rule: "self.all(a, self.all(b, a.contains(b)))"}},
		}
	}
	crd := apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "boats.example.org"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.org", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "boats", Kind: "Boat"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}},
			}}},
		},
	}
	texts := func() (all []string) {
		for _, err := range Refused(crd) {
			all = append(all, err.Error())
		}
		return all
	}
	first := texts()
	if len(first) != 11 { // each rule, and all together
		t.Errorf("%d errors:\n%q", len(first), first)
	}
	for range 20 {
		if again := texts(); !slices.Equal(first, again) {
			t.Fatalf("got  %q\nwant %q", again, first)
		}
	}
}

// TestRefused expects all errors of API servers, one line each, and none about fields that they set themselves.
func TestRefused(t *testing.T) {
	t.Parallel()
	const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: boats.example.org
spec:
  group: example.org
  names: {kind: Boat, plural: boats}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
`
	const of = "CustomResourceDefinition boats.example.org: "
	for _, c := range []struct{ old, new, want string }{
		{},
		{"  name:", "  namespace: fleet\n  generation: -1\n  name:", ""},
		{"spec:", "status: {storedVersions: [v9], acceptedNames: {kind: Big Boat, plural: \"\"}, conditions: []}\nspec:", ""},
		{"Namespaced", "Everywhere", of + `spec.scope: Unsupported value: "Everywhere": supported values: "Cluster", "Namespaced"`},
		{"storage: false", "storage: true", of + "spec.versions: Invalid value: must have exactly one version marked as storage version"},
		{"storage: true", "storage: false", of + "spec.versions: Invalid value: must have exactly one version marked as storage version"},
		{"name: v2", "name: v1", of + "spec.versions: Invalid value: must contain unique version names"},
		{"plural: boats", "plural: ships", of + `metadata.name: Invalid value: "boats.example.org": must be spec.names.plural+"."+spec.group`},
		{"group: example.org", "group: Example", of + `metadata.name: Invalid value: "boats.example.org": must be spec.names.plural+"."+spec.group`},
		{"kind: Boat", "kind: Boat, shortNames: [B]", of + `spec.names.shortNames[0]: Invalid value: "B": a DNS-1035 label`},
		{"  scope", "  conversion: {strategy: Webhook}\n  scope", of + "spec.conversion.webhookClientConfig: Required value"},
		{"  scope", "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {namespace: a, name: b}}}}\n  scope", ""},
		{"  scope", "  preserveUnknownFields: true\n  scope", of + "spec.preserveUnknownFields: Invalid value: true: cannot set to true"},
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(strings.Replace(crd, c.old, c.new, 1)), &o.Object); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(RefusedObject(o), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) || strings.Contains(got, "{") {
			t.Errorf("%s: got\n%s\nwant %s", c.new, got, c.want)
		}
	}
}
