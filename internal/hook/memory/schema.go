package memory

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// structural is a structural schema, as a CRD has it.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
type structural map[string]any

// property is the schema of a key, and whether there is one.
func (s structural) property(name string) (structural, bool) {
	properties, _ := s["properties"].(map[string]any)
	if p, isObject := properties[name].(map[string]any); isObject {
		return p, true
	}
	if p, isObject := s["additionalProperties"].(map[string]any); isObject {
		return p, true
	}
	return nil, s["additionalProperties"] == true
}

func (s structural) items() structural {
	items, _ := s["items"].(map[string]any)
	return items
}

// preserves reports whether keys that the schema does not name are kept.
func (s structural) preserves() bool { return s["x-kubernetes-preserve-unknown-fields"] == true }

// objectKeys are those that every object has, whatever its schema says.
var objectKeys = []string{"apiVersion", "kind", "metadata"}

// prune takes away what a schema does not name.
func (s structural) prune(v any, object bool) {
	switch x := v.(type) {
	case map[string]any:
		object = object || s["x-kubernetes-embedded-resource"] == true
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if object && slices.Contains(objectKeys, name) {
				continue
			}
			inner, known := s.property(name)
			switch {
			case known:
				inner.prune(x[name], false)
			case !s.preserves():
				delete(x, name)
			}
		}
	case []any:
		for _, item := range x {
			s.items().prune(item, false)
		}
	}
}

// complete fills in defaults where a key is absent, and where it is null and may
// not be.
func (s structural) complete(v any) {
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
				inner.complete(x[name])
			}
		}
	case []any:
		for _, item := range x {
			s.items().complete(item)
		}
	}
}

func required(s structural) []string {
	var names []string
	list, _ := s["required"].([]any)
	for _, v := range list {
		if name, isText := v.(string); isText {
			names = append(names, name)
		}
	}
	return names
}
