package fakeapi

import (
	"context"
	"fmt"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// Kind finds a kind by its name, plural, singular or short name.
func (s *Server) Kind(_ context.Context, apiVersion, kind string) (kinds.Kind, error) {
	return s.Table().Find(apiVersion, kind)
}

// Get returns an object in the version of a kind.
func (s *Server) Get(_ context.Context, k kinds.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(k, namespace, name)
	if err != nil {
		return nil, err
	}
	return as(k, e.object), nil
}

// find returns a stored object.
func (s *Server) find(k kinds.Kind, namespace, name string) (*entry, error) {
	switch {
	case name == "":
		return nil, apierrors.NewBadRequest("resource name may not be empty")
	case k.Namespaced && namespace == "", !k.Namespaced && namespace != "":
		return nil, noPath(k, false)
	}
	if e := s.objects[keyOf(k, namespace, name)]; e != nil {
		return e, nil
	}
	return nil, apierrors.NewNotFound(k.GVR().GroupResource(), name)
}

// noPath returns the answer for a path that the server does not have: a namespace for a
// cluster-scoped kind, or none for a namespaced kind. The answer differs for a request to
// create, because lists have that path.
func noPath(k kinds.Kind, creating bool) error {
	s := metav1.Status{Status: metav1.StatusFailure, Code: 404, Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource"}
	if k.Namespaced && creating {
		s.Code, s.Reason, s.Message = 405, metav1.StatusReasonMethodNotAllowed, "the server does not allow this method on the requested resource"
	}
	return &apierrors.StatusError{ErrStatus: s}
}

// as returns a copy of an object in the version of a kind. Only apiVersion changes.
func as(k kinds.Kind, o *unstructured.Unstructured) *unstructured.Unstructured {
	out := o.DeepCopy()
	out.SetAPIVersion(k.APIVersion())
	return out
}

// List returns the objects of a namespace, or of all namespaces for "", sorted by
// namespace and name.
func (s *Server) List(_ context.Context, k kinds.Kind, namespace string, opts metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	byLabel, byField, err := selectors(opts)
	if err != nil {
		return nil, err
	}
	if !k.Namespaced && namespace != "" {
		return nil, noPath(k, false)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range byField.Requirements() {
		if _, known := k.Field(&unstructured.Unstructured{Object: map[string]any{}}, r.Field); !known {
			return nil, s.notSelectable(k, r.Field)
		}
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": k.APIVersion(), "kind": k.Kind + "List"}}
	list.SetResourceVersion(fmt.Sprint(s.version))
	for _, at := range s.keys(func(at key) bool {
		return at.group == k.Group && at.resource == k.Resource && (namespace == "" || at.namespace == namespace)
	}) {
		o := s.objects[at].object
		if byLabel.Matches(labels.Set(o.GetLabels())) && s.selected(k, o, byField) {
			list.Items = append(list.Items, *as(k, o))
		}
	}
	return list, nil
}

// notSelectable returns the answer for a field selector that the kind does not support.
func (s *Server) notSelectable(k kinds.Kind, name string) error {
	if s.crdOf(k) == nil && len(k.Selectable()) == 0 {
		return apierrors.NewBadRequest(fmt.Sprintf(`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, name))
	}
	return apierrors.NewBadRequest("field label not supported: " + name)
}

func (s *Server) selected(k kinds.Kind, o *unstructured.Unstructured, by fields.Selector) bool {
	for _, r := range by.Requirements() {
		value, _ := k.Field(o, r.Field)
		if (r.Operator == "!=") == (value == r.Value) {
			return false
		}
	}
	return true
}
