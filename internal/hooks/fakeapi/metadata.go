package fakeapi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func isPathSegment(name string, _ bool) []string { return content.IsPathSegmentName(name) }

// nameRule returns the validation of names of a kind.
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

// validateMetadata checks the metadata of an object.
func validateMetadata(k kinds.Kind, o *unstructured.Unstructured) field.ErrorList {
	return sorted(validation.ValidateObjectMetaAccessor(o, k.Namespaced, nameRule(k), field.NewPath("metadata")))
}

// sorted orders errors, because errors of labels and annotations have the random order of a map.
func sorted(errs field.ErrorList) field.ErrorList {
	slices.SortFunc(errs, func(a, b *field.Error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errs
}

// valueAt returns the value at a path such as spec.selector, or nil.
func valueAt(object map[string]any, path string) any {
	v, found, err := unstructured.NestedFieldNoCopy(object, strings.Split(path, ".")...)
	if !found || err != nil {
		return nil
	}
	return v
}
