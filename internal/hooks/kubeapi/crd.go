package kubeapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/project"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/version"
)

// CRD has the kinds that a CustomResourceDefinition defines, one for each served version.
type CRD []Kind

// IsCRD reports whether an object is a CustomResourceDefinition, of any version.
func IsCRD(gvk schema.GroupVersionKind) bool {
	return gvk.GroupKind() == schema.GroupKind{Group: apiextensionsv1.GroupName, Kind: "CustomResourceDefinition"}
}

// ReadCRD reads a CustomResourceDefinition of apiextensions.k8s.io/v1.
func ReadCRD(o *unstructured.Unstructured) (CRD, error) {
	if v := o.GroupVersionKind().Version; v != "v1" {
		return nil, fmt.Errorf("CustomResourceDefinition %s has the version %s, which Kubernetes %s does not serve: use %s/v1", o.GetName(), v, Release, apiextensionsv1.GroupName)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %s: %w", o.GetName(), err)
	}
	names := crd.Spec.Names
	if crd.Spec.Group == "" || names.Kind == "" || names.Plural == "" {
		return nil, fmt.Errorf("CustomResourceDefinition %s must have spec.group, spec.names.kind and spec.names.plural", o.GetName())
	}
	singular := names.Singular
	if singular == "" {
		singular = strings.ToLower(names.Kind)
	}
	var all CRD
	var versions []string
	for _, v := range crd.Spec.Versions {
		if !v.Served {
			continue
		}
		k := Kind{Group: crd.Spec.Group, Version: v.Name, Kind: names.Kind, Resource: names.Plural, Singular: singular,
			ShortNames: names.ShortNames, Categories: names.Categories, Verbs: project.StoredVerbs,
			Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped}
		if s := v.Subresources; s != nil && s.Status != nil {
			k.Subresources = append(k.Subresources, "status")
		}
		if s := v.Subresources; s != nil && s.Scale != nil {
			k.Subresources = append(k.Subresources, "scale")
		}
		for _, f := range v.SelectableFields {
			k.Fields = append(k.Fields, strings.TrimPrefix(f.JSONPath, "."))
		}
		all, versions = append(all, k), append(versions, v.Name)
	}
	slices.SortFunc(versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	for i := range all {
		all[i].Versions = versions
	}
	return all, nil
}

// SameCRDVersions reports whether two CustomResourceDefinitions define the same versions. One can be of an
// API server, which adds no fields to versions.
func SameCRDVersions(a, b *unstructured.Unstructured) bool {
	var first, second apiextensionsv1.CustomResourceDefinition
	convert := runtime.DefaultUnstructuredConverter.FromUnstructured
	return convert(a.Object, &first) == nil && convert(b.Object, &second) == nil &&
		equality.Semantic.DeepEqual(first.Spec.Versions, second.Spec.Versions)
}

// CRDObjects returns the CustomResourceDefinitions in a YAML or JSON file. It ignores other
// objects.
func CRDObjects(text []byte) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for dec := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		u := &unstructured.Unstructured{}
		err := dec.Decode(&u.Object)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case IsCRD(u.GroupVersionKind()):
			all = append(all, u)
		}
	}
}

// ReadCRDs reads the CustomResourceDefinitions in a YAML or JSON file. It ignores other objects.
func ReadCRDs(text []byte) ([]CRD, error) {
	objects, err := CRDObjects(text)
	if err != nil {
		return nil, err
	}
	var all []CRD
	for _, o := range objects {
		crd, err := ReadCRD(o)
		if err != nil {
			return nil, err
		}
		all = append(all, crd)
	}
	return all, nil
}
