package fakeapi

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
