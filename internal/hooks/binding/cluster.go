// Package binding creates the binding contexts that shell-operator passes to hooks. It
// needs only the configuration of the hook and a list of objects, not a real cluster or
// the engine.
package binding

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// Cluster is a list of existing objects. CRDs in it define kinds in addition to those of
// Kubernetes.
type Cluster []*unstructured.Unstructured

// After returns the cluster after an Added, Modified or Deleted event.
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
		reason, err := c.unselected(table, k, o)
		if err != nil {
			return nil, err
		}
		if reason != "" {
			continue
		}
		i, err := view.Show(o)
		if err != nil {
			return nil, err
		}
		selected = append(selected, i)
	}
	return Sorted(selected), nil
}

// unselected returns the reason why a binding does not watch an object, or "".
func (c Cluster) unselected(table *kinds.Table, k config.Kubernetes, o *unstructured.Unstructured) (reason string, err error) {
	if !watchesKind(table, k, o) {
		return fmt.Sprintf("it watches %s", strings.TrimSpace(k.APIVersion+" "+k.Kind)), nil
	}
	if s := k.NameSelector; s != nil && len(s.MatchNames) > 0 && !slices.Contains(s.MatchNames, o.GetName()) {
		return "it selects " + strings.Join(s.MatchNames, ", ") + " by name", nil
	}
	if ok, err := matches(k.LabelSelector, o); err != nil || !ok {
		return "its labelSelector does not match", err
	}
	if reason, err := outOfFields(table, k, o); err != nil || reason != "" {
		return reason, err
	}
	return c.outside(k.Namespace, o)
}

// outside returns the reason why the namespace of an object is not selected, or "".
func (c Cluster) outside(s *config.NamespaceSelector, o *unstructured.Unstructured) (reason string, err error) {
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
	return fmt.Sprintf("its namespace selector matches no labels of the namespace %q", o.GetNamespace()), nil
}

func matches(s *metav1.LabelSelector, o *unstructured.Unstructured) (bool, error) {
	if s == nil {
		return true, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(o.GetLabels())), err
}

// outOfFields returns the reason why a binding's field selector does not match an object, or "".
func outOfFields(table *kinds.Table, k config.Kubernetes, o *unstructured.Unstructured) (reason string, err error) {
	if k.FieldSelector == nil {
		return "", nil
	}
	kind, err := table.FindObject(o.GroupVersionKind())
	if err != nil {
		kind = kinds.Kind{Namespaced: true} // only name and namespace can be selected
	}
	for _, e := range k.FieldSelector.MatchExpressions {
		value, known := kind.Field(o, e.Field)
		if !known {
			return "", fmt.Errorf("fieldSelector of %s: the API server selects no %s by %s", k.BindingName(), o.GetKind(), e.Field)
		}
		if unequal := e.Operator == "!=" || e.Operator == "NotEquals"; (value == e.Value) == unequal {
			return "its fieldSelector does not match: " + e.Field + fmt.Sprintf(" is %q", value), nil
		}
	}
	return "", nil
}

// Kinds returns the kinds of Kubernetes and of the cluster's CRDs.
func (c Cluster) Kinds() *kinds.Table {
	var crds []kinds.CRD
	for _, o := range c {
		if !kinds.IsCRD(o.GroupVersionKind()) {
			continue
		}
		if crd, err := kinds.FromObject(o); err == nil { // an API server rejects an invalid CRD
			crds = append(crds, crd)
		}
	}
	if len(crds) == 0 {
		return kinds.Builtin()
	}
	return kinds.Builtin().With(crds...)
}

// watchesKind reports whether a binding watches the kind of an object. For an unknown
// kind, the name in the binding must match exactly.
func watchesKind(table *kinds.Table, k config.Kubernetes, o *unstructured.Unstructured) bool {
	if k.APIVersion != "" && k.APIVersion != o.GetAPIVersion() {
		return false
	}
	own, err := table.FindObject(o.GroupVersionKind())
	if err != nil {
		return strings.EqualFold(k.Kind, o.GetKind())
	}
	meant, err := table.Find(k.APIVersion, k.Kind)
	return err == nil && meant.Group == own.Group && meant.Resource == own.Resource
}

func name(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return o.GetKind() + " " + o.GetName()
	}
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}
