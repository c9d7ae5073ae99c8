package fakeapi

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func isCRD(k kinds.Kind) bool { return kinds.IsCRD(k.GVK()) }

// crds returns the stored CRDs, sorted by name.
func (s *Server) crds() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, at := range s.keys(func(at key) bool {
		return at.group == "apiextensions.k8s.io" && at.resource == "customresourcedefinitions"
	}) {
		all = append(all, s.objects[at].object)
	}
	return all
}

// refreshKinds updates the table of kinds after a change of a CRD.
func (s *Server) refreshKinds(k kinds.Kind) {
	if !isCRD(k) {
		return
	}
	var all []kinds.CRD
	for _, o := range s.crds() {
		if crd, err := kinds.FromObject(o); err == nil {
			all = append(all, crd)
		}
	}
	s.table = s.builtin.With(all...)
}

// establish sets the names and the status that a server sets for a new CRD.
func establish(o *unstructured.Unstructured) {
	condition := func(kind, reason, message string) map[string]any {
		return map[string]any{"type": kind, "status": "True", "reason": reason, "message": message,
			"lastTransitionTime": now.UTC().Format("2006-01-02T15:04:05Z"), "observedGeneration": int64(1)}
	}
	names, _, _ := unstructured.NestedMap(o.Object, "spec", "names")
	if names == nil {
		return
	}
	if kind, isText := names["kind"].(string); isText {
		if names["singular"] == nil {
			names["singular"] = strings.ToLower(kind)
		}
		if names["listKind"] == nil {
			names["listKind"] = kind + "List"
		}
		_ = unstructured.SetNestedMap(o.Object, names, "spec", "names")
	}
	var stored []any
	for _, v := range crdschema.Versions(o) {
		if v["storage"] == true {
			stored = append(stored, v["name"])
		}
	}
	o.Object["status"] = map[string]any{
		"acceptedNames":  names,
		"storedVersions": stored,
		"conditions": []any{
			condition("NamesAccepted", "NoConflicts", "no conflicts found"),
			condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
		},
	}
}

// CRD returns a copy of the CRD that defines a kind, or nil.
func (s *Server) CRD(k kinds.Kind) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crdOf(k).DeepCopy()
}

// crdOf returns the CRD that defines a kind, or nil.
func (s *Server) crdOf(k kinds.Kind) *unstructured.Unstructured {
	e := s.objects[key{group: "apiextensions.k8s.io", resource: "customresourcedefinitions", name: k.Resource + "." + k.Group}]
	if e == nil {
		return nil
	}
	return e.object
}

// validator returns the validator of a custom resource. found is false for other kinds,
// and when the CRD has no schema.
func (s *Server) validator(k kinds.Kind) (v *crdschema.Validator, found bool, err error) {
	crd := s.crdOf(k)
	if crd == nil {
		return nil, false, nil
	}
	schema := crdschema.Of(crd, k.Version)
	if schema == nil {
		return nil, false, nil
	}
	v, err = crdschema.NewValidator(schema)
	if err != nil {
		return nil, false, fmt.Errorf("CustomResourceDefinition %s, version %s: %w", crd.GetName(), k.Version, err)
	}
	return v, true, nil
}

// checkServable returns an error if the server cannot serve the kind of a CRD.
func checkServable(crd *unstructured.Unstructured) error {
	if _, err := kinds.FromObject(crd); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// validateSchemas checks that the schemas of a CRD are structural. They are compiled when
// an object needs them, because a large schema takes 0.1 s.
func validateSchemas(crd *unstructured.Unstructured) field.ErrorList {
	var errs field.ErrorList
	versions := crdschema.Versions(crd)
	for i, v := range versions {
		path := field.NewPath("spec", "versions").Index(i).Child("schema")
		if len(versions) == 1 {
			path = field.NewPath("spec", "validation") // the server's internal type has it there
		}
		name, _ := v["name"].(string)
		errs = append(errs, crdschema.Of(crd, name).Validate(path.Child("openAPIV3Schema"))...)
	}
	return errs
}
