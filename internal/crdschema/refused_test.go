package crdschema

import (
	"fmt"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
