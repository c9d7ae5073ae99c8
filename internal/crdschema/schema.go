// Package crdschema judges objects by the structural schemas of CRDs, as an API
// server does: what it drops of them, what it fills in, and what it does not allow.
// It also makes samples of what a schema describes, and compares two of them.
//
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
package crdschema

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Schema is a structural schema, as a CRD has it.
type Schema map[string]any

// Versions are those of a CRD, as they stand there.
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

// Of is the schema of a version of a CRD, or nil.
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

// property is the schema of a key, and whether there is one.
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

// preserves reports whether keys that the schema does not name are kept.
func (s Schema) preserves() bool { return s["x-kubernetes-preserve-unknown-fields"] == true }

// embeds reports whether the schema is that of a whole object within another.
func (s Schema) embeds() bool { return s["x-kubernetes-embedded-resource"] == true }

// objectKeys are those that every object has, whatever its schema says.
var objectKeys = []string{"apiVersion", "kind", "metadata"}

// Prune takes away of an object what the schema does not name, and returns the
// paths of that, in order.
func (s Schema) Prune(object map[string]any) []string { return s.prune(object, true, nil) }

func (s Schema) prune(v any, object bool, at *field.Path) []string {
	var dropped []string
	switch x := v.(type) {
	case map[string]any:
		object = object || s.embeds()
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if object && slices.Contains(objectKeys, name) {
				continue
			}
			inner, known := s.property(name)
			switch {
			case known:
				dropped = append(dropped, inner.prune(x[name], false, child(at, name))...)
			case !s.preserves():
				delete(x, name)
				dropped = append(dropped, child(at, name).String())
			}
		}
	case []any:
		for i, item := range x {
			dropped = append(dropped, s.items().prune(item, false, at.Index(i))...)
		}
	}
	return dropped
}

// Complete fills in defaults where a key is absent, and where it is null and may
// not be.
func (s Schema) Complete(v any) {
	switch x := v.(type) {
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		for name, p := range properties {
			inner, isObject := p.(map[string]any)
			if !isObject {
				continue
			}
			value, there := x[name]
			fallback, has := inner["default"]
			switch {
			case has && (!there || value == nil && inner["nullable"] != true):
				x[name] = runtime.DeepCopyJSONValue(fallback)
			case there && value == nil && inner["nullable"] != true && !slices.Contains(required(s), name):
				delete(x, name)
			}
		}
		for name := range x {
			if inner, known := s.property(name); known && inner != nil {
				inner.Complete(x[name])
			}
		}
	case []any:
		for _, item := range x {
			s.items().Complete(item)
		}
	}
}

func required(s Schema) []string {
	var names []string
	list, _ := s["required"].([]any)
	for _, v := range list {
		if name, isText := v.(string); isText {
			names = append(names, name)
		}
	}
	return names
}
