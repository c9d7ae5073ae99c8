// Package binding creates the binding contexts that shell-operator passes to hooks, from the
// configuration of the hook and a list of objects. It needs neither a cluster nor the engine.
package binding

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// Cluster is the list of the objects in a cluster. Its CRDs define kinds in addition to the
// kinds of Kubernetes.
type Cluster []*unstructured.Unstructured

// After returns the cluster after an Added, Modified or Deleted event for an object.
func (c Cluster) After(event string, o *unstructured.Unstructured) Cluster {
	next := slices.DeleteFunc(slices.Clone(c), func(other *unstructured.Unstructured) bool {
		return other.GroupVersionKind() == o.GroupVersionKind() && other.GetNamespace() == o.GetNamespace() && other.GetName() == o.GetName()
	})
	if event != "Deleted" {
		next = append(next, o)
	}
	return next
}

// items returns the objects that a binding watches.
func (c Cluster) items(k config.Kubernetes) ([]Item, error) {
	view, err := NewView(k)
	if err != nil {
		return nil, err
	}
	var selected []Item
	table := c.Kinds()
	for _, o := range c {
		reason, err := c.mismatch(table, k, o)
		if err != nil {
			return nil, err
		}
		if reason != "" {
			continue
		}
		item, err := view.Item(o)
		if err != nil {
			return nil, err
		}
		selected = append(selected, item)
	}
	return Sorted(selected), nil
}

// mismatch returns the reason why a binding does not watch an object, or "".
func (c Cluster) mismatch(table *kubeapi.Kinds, k config.Kubernetes, o *unstructured.Unstructured) (reason string, err error) {
	if !watchesKind(table, k, o) {
		return fmt.Sprintf("it watches %s", strings.TrimSpace(k.APIVersion+" "+k.Kind)), nil
	}
	if s := k.NameSelector; s != nil && len(s.MatchNames) > 0 && !slices.Contains(s.MatchNames, o.GetName()) {
		return "it selects " + strings.Join(s.MatchNames, ", ") + " by name", nil
	}
	if ok, err := matches(k.LabelSelector, o); err != nil || !ok {
		return "its labelSelector does not match", err
	}
	if reason, err := fieldMismatch(table, k, o); err != nil || reason != "" {
		return reason, err
	}
	return c.namespaceMismatch(k.Namespace, o)
}

// namespaceMismatch returns the reason why a selector does not match the namespace of an
// object, or "".
func (c Cluster) namespaceMismatch(s *config.NamespaceSelector, o *unstructured.Unstructured) (reason string, err error) {
	if s == nil {
		return "", nil
	}
	// With a label selector, the engine ignores names.
	if n := s.NameSelector; s.LabelSelector == nil && n != nil && len(n.MatchNames) > 0 && !slices.Contains(n.MatchNames, o.GetNamespace()) {
		return "it selects the namespaces " + strings.Join(n.MatchNames, ", "), nil
	}
	if s.LabelSelector == nil {
		return "", nil
	}
	for _, ns := range c {
		if ns.GetKind() == "Namespace" && ns.GetName() == o.GetNamespace() {
			if ok, err := matches(s.LabelSelector, ns); err != nil || ok {
				return "", err
			}
		}
	}
	return fmt.Sprintf("its namespace selector does not match the labels of the namespace %q", o.GetNamespace()), nil
}

func matches(s *metav1.LabelSelector, o *unstructured.Unstructured) (bool, error) {
	if s == nil {
		return true, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(o.GetLabels())), err
}

// fieldMismatch returns the reason why the field selector of a binding does not match an object,
// or "".
func fieldMismatch(table *kubeapi.Kinds, k config.Kubernetes, o *unstructured.Unstructured) (reason string, err error) {
	if k.FieldSelector == nil {
		return "", nil
	}
	kind, err := table.FindObject(o.GroupVersionKind())
	if err != nil {
		kind = kubeapi.Kind{Namespaced: true} // which has the selectable fields of all kinds: name and namespace
	}
	for _, e := range k.FieldSelector.MatchExpressions {
		value, known := kind.Field(o, e.Field)
		if !known {
			return "", fmt.Errorf("fieldSelector of %s: the API server does not support %s in field selectors for %s", k.BindingName(), e.Field, o.GetKind())
		}
		if negated := e.Operator == "!=" || e.Operator == "NotEquals"; (value == e.Value) == negated {
			return fmt.Sprintf("its fieldSelector does not match: %s is %q", e.Field, value), nil
		}
	}
	return "", nil
}

// Kinds returns the kinds of Kubernetes and of the CRDs in the cluster.
func (c Cluster) Kinds() *kubeapi.Kinds {
	var crds []kubeapi.CRD
	for _, o := range c {
		if !kubeapi.IsCRD(o.GroupVersionKind()) {
			continue
		}
		if crd, err := kubeapi.ReadCRD(o); err == nil { // invalid CRDs cannot exist in a cluster
			crds = append(crds, crd)
		}
	}
	if len(crds) == 0 {
		return kubeapi.Builtin()
	}
	return kubeapi.Builtin().With(crds...)
}

// watchesKind reports whether a binding watches the kind of an object. An unknown kind must
// have the name that the binding uses.
func watchesKind(table *kubeapi.Kinds, k config.Kubernetes, o *unstructured.Unstructured) bool {
	if k.APIVersion != "" && k.APIVersion != o.GetAPIVersion() {
		return false
	}
	actual, err := table.FindObject(o.GroupVersionKind())
	if err != nil {
		return strings.EqualFold(k.Kind, o.GetKind())
	}
	watched, err := table.Find(k.APIVersion, k.Kind)
	return err == nil && watched.Group == actual.Group && watched.Resource == actual.Resource
}

// objectName returns the kind and the name of an object for messages.
func objectName(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return o.GetKind() + " " + o.GetName()
	}
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}
