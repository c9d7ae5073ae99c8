package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/crdschema"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// crd returns a CRD whose spec has a schema.
func crd(t testing.TB, spec crdschema.Schema) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	content, err := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{
		"apiVersion": map[string]any{"type": "string"},
		"kind":       map[string]any{"type": "string"},
		"metadata":   map[string]any{"type": "object"},
		"spec":       map[string]any(spec),
		"status":     map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := json.Unmarshal(content, props); err != nil {
		t.Fatal(err)
	}
	c := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "charts.example.org"}}
	c.APIVersion, c.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
	c.Spec.Group, c.Spec.Scope = "example.org", apiextensionsv1.NamespaceScoped
	c.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "charts", Singular: "chart", Kind: "Chart", ListKind: "ChartList"}
	c.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props},
	}}
	return c
}

// accepted fails the test unless the API server's own validation accepts a CRD with the schema.
func accepted(t testing.TB, spec crdschema.Schema) {
	t.Helper()
	c := crd(t, spec)
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(c)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(c, internal, nil); err != nil {
		t.Fatal(err)
	}
	internal.Status.StoredVersions = []string{"v1"}
	for _, problem := range validation.ValidateCustomResourceDefinition(t.Context(), internal) {
		if !strings.HasPrefix(problem.Field, "status") {
			t.Errorf("an API server rejects the CRD: %v", problem)
		}
	}
}
