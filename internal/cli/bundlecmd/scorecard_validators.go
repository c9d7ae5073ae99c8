package bundlecmd

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/operator-framework/api/pkg/encoding"
	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operon-dev/operon/internal/olm/bundle"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// validateForOLM returns what the validators of OLM's library say about a bundle.
func validateForOLM(files map[string][]byte, b *bundle.Bundle) (errors, warnings []string) {
	typed, err := typedBundle(files, b)
	if err != nil {
		return []string{err.Error()}, nil
	}
	objects := []any{typed, typed.CSV}
	for _, crd := range typed.V1CRDs {
		objects = append(objects, crd)
	}
	for _, crd := range typed.V1beta1CRDs {
		objects = append(objects, crd)
	}
	for _, result := range validation.DefaultBundleValidators.Validate(objects...) {
		for _, err := range result.Errors {
			errors = append(errors, err.Error())
		}
		for _, warning := range result.Warnings {
			warnings = append(warnings, warning.Error())
		}
	}
	return errors, warnings
}

// typedBundle returns the bundle in the types of the library.
func typedBundle(files map[string][]byte, b *bundle.Bundle) (*manifests.Bundle, error) {
	typed := &manifests.Bundle{Name: b.Name(), Package: b.Package(), Channels: b.Channels(), DefaultChannel: b.Annotations[bundle.DefaultChannelKey]}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Dir(name) != path.Dir(b.CSV.File) {
			continue
		}
		packed, err := encoding.GzipBase64Encode(files[name])
		if err != nil {
			return nil, err
		}
		typed.Size += int64(len(files[name]))
		typed.CompressedSize += int64(len(packed))
	}
	for _, m := range b.Manifests {
		if err := addTyped(typed, m); err != nil {
			return nil, fmt.Errorf("%s: %w", m.File, err)
		}
	}
	return typed, nil
}

func addTyped(typed *manifests.Bundle, m bundle.Manifest) error {
	text, err := yaml.Marshal(m.Object)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &object.Object); err != nil {
		return err
	}
	typed.Objects = append(typed.Objects, object)
	switch object.GetAPIVersion() + " " + object.GetKind() {
	case "operators.coreos.com/v1alpha1 ClusterServiceVersion":
		typed.CSV = &v1alpha1.ClusterServiceVersion{}
		return yaml.Unmarshal(text, typed.CSV)
	case "apiextensions.k8s.io/v1 CustomResourceDefinition":
		crd := &apiextensionsv1.CustomResourceDefinition{}
		typed.V1CRDs = append(typed.V1CRDs, crd)
		return yaml.Unmarshal(text, crd)
	case "apiextensions.k8s.io/v1beta1 CustomResourceDefinition":
		crd := &apiextensionsv1beta1.CustomResourceDefinition{}
		typed.V1beta1CRDs = append(typed.V1beta1CRDs, crd)
		return yaml.Unmarshal(text, crd)
	}
	return nil
}
