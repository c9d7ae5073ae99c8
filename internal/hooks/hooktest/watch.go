package hooktest

import (
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/fakeapi"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// watch observes the objects that a binding selects.
type watch struct {
	ref        engine.Ref
	binding    config.Kubernetes
	kind       kinds.Kind
	namespaces []string // currently matching namespaces, for a label selector
}

func (w *watch) byLabels() bool {
	return w.binding.Namespace != nil && w.binding.Namespace.LabelSelector != nil
}

// list returns the objects that a watch currently selects.
func (s *memoryCluster) list(ctx context.Context, w *watch) ([]*unstructured.Unstructured, error) {
	list, err := s.server.List(ctx, w.kind, "", w.options())
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for i := range list.Items {
		if o := &list.Items[i]; w.matchesNames(o) {
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// options returns the selectors that the engine sends to the API server.
func (w *watch) options() metav1.ListOptions {
	var o metav1.ListOptions
	if w.binding.LabelSelector != nil {
		o.LabelSelector = metav1.FormatLabelSelector(w.binding.LabelSelector)
	}
	if w.binding.FieldSelector == nil {
		return o
	}
	var all []fields.Selector
	for _, e := range w.binding.FieldSelector.MatchExpressions {
		if e.Operator == "!=" || e.Operator == "NotEquals" {
			all = append(all, fields.OneTermNotEqualSelector(e.Field, e.Value))
		} else {
			all = append(all, fields.OneTermEqualSelector(e.Field, e.Value))
		}
	}
	o.FieldSelector = fields.AndSelectors(all...).String()
	return o
}

// matchesNames reports whether an object has a name and namespace that the binding
// selects.
func (w *watch) matchesNames(o *unstructured.Unstructured) bool {
	k := w.binding
	if s := k.NameSelector; s != nil && len(s.MatchNames) > 0 && !slices.Contains(s.MatchNames, o.GetName()) {
		return false
	}
	if w.byLabels() {
		return slices.Contains(w.namespaces, o.GetNamespace())
	}
	if n := k.Namespace; n != nil && n.NameSelector != nil && len(n.NameSelector.MatchNames) > 0 {
		return slices.Contains(n.NameSelector.MatchNames, o.GetNamespace())
	}
	return true
}

// observe converts an event to the observations of a watch. An object that starts to
// match is Added, one that stops matching is Deleted.
func (s *memoryCluster) observe(ctx context.Context, w *watch, e fakeapi.Event) ([]Observation, error) {
	var all []Observation
	if w.kind.Group == e.Kind.Group && w.kind.Resource == e.Kind.Resource {
		before, err := s.selects(w, e.Old)
		if err != nil {
			return nil, err
		}
		after := false
		if e.Type != "Deleted" {
			if after, err = s.selects(w, e.Object); err != nil {
				return nil, err
			}
		}
		o := e.Object.DeepCopy()
		event := map[[2]bool]string{{false, true}: "Added", {true, true}: "Modified", {true, false}: "Deleted"}[[2]bool{before, after}]
		if event == "Deleted" && e.Type != "Deleted" {
			o = e.Old.DeepCopy() // the last state that was selected
			o.SetResourceVersion(e.Object.GetResourceVersion())
		}
		o.SetAPIVersion(w.kind.APIVersion())
		if event != "" {
			all = append(all, Observation{Binding: w.ref, Event: event, Objects: []*unstructured.Unstructured{o}})
		}
	}
	if !w.byLabels() || e.Kind.Kind != "Namespace" || e.Kind.Group != "" {
		return all, nil
	}
	return s.namespace(ctx, w, e, all)
}

// namespace updates the namespaces that a binding selects by labels, and appends the
// resulting observation to all.
func (s *memoryCluster) namespace(ctx context.Context, w *watch, e fakeapi.Event, all []Observation) ([]Observation, error) {
	name := e.Object.GetName()
	before, after := slices.Contains(w.namespaces, name), false
	if e.Type != "Deleted" {
		selector, err := metav1.LabelSelectorAsSelector(w.binding.Namespace.LabelSelector)
		if err != nil {
			return nil, err
		}
		after = selector.Matches(labels.Set(e.Object.GetLabels()))
	}
	switch {
	case after && !before:
		w.namespaces = append(w.namespaces, name)
		objects, err := s.list(ctx, w)
		if err != nil {
			return nil, err
		}
		objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetNamespace() != name })
		all = append(all, Observation{Binding: w.ref, Event: "Selected", Namespace: name, Objects: objects})
	case before && !after:
		w.namespaces = slices.DeleteFunc(w.namespaces, func(n string) bool { return n == name })
		all = append(all, Observation{Binding: w.ref, Event: "Unselected", Namespace: name})
	}
	return all, nil
}

// selects reports whether a watch selects an object. The object may be nil.
func (s *memoryCluster) selects(w *watch, o *unstructured.Unstructured) (bool, error) {
	if o == nil || !w.matchesNames(o) {
		return false, nil
	}
	return s.server.Selects(w.kind, o, w.options())
}
