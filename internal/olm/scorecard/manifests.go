package scorecard

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// example is a custom resource in the annotation alm-examples.
type example struct{ unstructured.Unstructured }

// examples returns the custom resources that the ClusterServiceVersion shows to users.
func (b Builtin) examples() ([]example, error) {
	text := b.Bundle.CSVAnnotation("alm-examples")
	if text == "" {
		return nil, nil
	}
	var objects []unstructured.Unstructured
	if err := json.Unmarshal([]byte(text), &objects); err != nil {
		return nil, fmt.Errorf("the annotation alm-examples is not a list of objects: %w", err)
	}
	var examples []example
	for _, object := range objects {
		examples = append(examples, example{object})
	}
	return examples, nil
}

// fields returns the names of the fields of spec or status, sorted.
func (e example) fields(section string) []string {
	return slices.Sorted(maps.Keys(jsonvalue.Map(e.Object, section)))
}

func describe(e example) string { return e.GetKind() + "/" + e.GetName() }

// ownedKind is an entry of spec.customresourcedefinitions.owned.
type ownedKind struct {
	Name, Kind, Version string
	Resources           []any
	SpecDescriptors     []descriptor
	StatusDescriptors   []descriptor
}

type descriptor struct{ Path string }

func (k ownedKind) describesSpec(field string) bool {
	return slices.ContainsFunc(k.SpecDescriptors, func(d descriptor) bool { return d.Path == field })
}

// owned returns the kinds that the ClusterServiceVersion owns.
func (b Builtin) owned() ([]ownedKind, error) {
	var spec struct {
		CustomResourceDefinitions struct{ Owned []ownedKind }
	}
	if err := convert(b.Bundle.Spec(), &spec); err != nil {
		return nil, fmt.Errorf("%s: spec.customresourcedefinitions: %w", b.Bundle.CSV.File, err)
	}
	return spec.CustomResourceDefinitions.Owned, nil
}

// find returns the owned kind of an example, or nil. Like operator-sdk, it does not compare
// the group.
func find(owned []ownedKind, e example) *ownedKind {
	gvk := e.GroupVersionKind()
	for i, kind := range owned {
		if kind.Kind == gvk.Kind && kind.Version == gvk.Version {
			return &owned[i]
		}
	}
	return nil
}

// crd is a CustomResourceDefinition of v1 or v1beta1.
type crd struct {
	Metadata struct{ Name string }
	Spec     struct {
		Names      struct{ Kind string }
		Versions   []crdVersion
		Version    string     // of v1beta1
		Validation *crdSchema // of v1beta1, for all versions
	}
}

type crdVersion struct {
	Name   string
	Schema *crdSchema
}

type crdSchema struct {
	OpenAPIV3Schema struct {
		Properties map[string]struct {
			Properties map[string]any
		}
	} `json:"openAPIV3Schema"`
}

// versions returns the versions as v1 has them.
func (c crd) versions() []crdVersion {
	versions := slices.Clone(c.Spec.Versions)
	if len(versions) == 0 && c.Spec.Version != "" {
		versions = []crdVersion{{Name: c.Spec.Version}}
	}
	for i := range versions {
		if versions[i].Schema == nil {
			versions[i].Schema = c.Spec.Validation
		}
	}
	return versions
}

// crds returns the CRDs of the bundle.
func (b Builtin) crds() ([]crd, error) {
	var crds []crd
	for _, m := range b.Bundle.Manifests {
		if m.Object["kind"] != "CustomResourceDefinition" {
			continue
		}
		var c crd
		if err := convert(m.Object, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", m.File, err)
		}
		crds = append(crds, c)
	}
	return crds, nil
}

// convert copies values of YAML to a struct.
func convert(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
