package fakeapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// metadata finds labels and annotations that are no texts, by which a server
// cannot read the object.
func metadata(object map[string]any) error {
	meta, isObject := object["metadata"].(map[string]any)
	if !isObject {
		if object["metadata"] == nil {
			object["metadata"] = map[string]any{}
			return nil
		}
		return fmt.Errorf("json: cannot unmarshal %s into Go value of type v1.ObjectMeta", nameOf(object["metadata"]))
	}
	for _, name := range []string{"labels", "annotations"} {
		values, _ := meta[name].(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(values)) {
			if _, isText := values[k].(string); !isText {
				return fmt.Errorf("json: cannot unmarshal %s into Go struct field ObjectMeta.%s of type string", nameOf(values[k]), name)
			}
		}
		if meta[name] == nil {
			delete(meta, name)
		}
	}
	return nil
}

// nameOf names the type of a JSON value as encoding/json does.
func nameOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "bool"
	case nil:
		return "null"
	}
	return "number"
}

func isPathSegment(name string, _ bool) []string { return content.IsPathSegmentName(name) }

// nameRule is the rule for names of a kind.
func nameRule(k kinds.Kind) validation.ValidateNameFunc {
	switch {
	case k.Group == "" && k.Resource == "namespaces":
		return validation.ValidateNamespaceName
	case k.Group == "" && k.Resource == "services":
		return validation.NameIsDNS1035Label
	case k.Group == "rbac.authorization.k8s.io":
		return isPathSegment
	}
	return validation.NameIsDNSSubdomain
}

func invalidMetadata(k kinds.Kind, o *unstructured.Unstructured) field.ErrorList {
	at := field.NewPath("metadata")
	var errs field.ErrorList
	if o.GetName() == "" {
		errs = append(errs, field.Required(at.Child("name"), "name or generateName is required"))
	} else {
		for _, msg := range nameRule(k)(o.GetName(), false) {
			errs = append(errs, field.Invalid(at.Child("name"), o.GetName(), msg))
		}
	}
	errs = append(errs, sorted(metav1validation.ValidateLabels(o.GetLabels(), at.Child("labels")))...)
	errs = append(errs, sorted(validation.ValidateAnnotations(o.GetAnnotations(), at.Child("annotations")))...)
	for _, f := range o.GetFinalizers() {
		errs = append(errs, validation.ValidateFinalizerName(f, at.Child("finalizers"))...)
	}
	return errs
}

// sorted are faults of a map's keys: a server has them in an order that changes.
func sorted(errs field.ErrorList) field.ErrorList {
	slices.SortFunc(errs, func(a, b *field.Error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errs
}

// at is the value at a path of keys with dots between them, or nil.
func at(object map[string]any, path string) any {
	v, found, err := unstructured.NestedFieldNoCopy(object, strings.Split(path, ".")...)
	if !found || err != nil {
		return nil
	}
	return v
}
