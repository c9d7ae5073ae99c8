package engine

import (
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Admission returns the task for an admission request to a webhook of a hook. index is the index
// of the validating or mutating binding. request is the request of the AdmissionReview. The task
// uses no queue, and the engine does not retry it.
func (s *State) Admission(hook string, index int, mutating bool, request map[string]any) Task {
	h := s.hook(hook)
	webhooks := h.Config.Validating
	if mutating {
		webhooks = h.Config.Mutating
	}
	ctx, _ := h.contexts().Admission(webhooks[index], mutating, request) // snapshots are in memory, so the call cannot fail
	return Task{Hook: h.Hook, Contexts: []binding.Context{ctx}}
}

// Convert converts objects of a CRD: it runs the hooks on the shortest path from the version of
// the objects to the requested version. request is the request of the ConversionReview, without
// its objects. run runs a hook, and returns the converted objects and whether the hook wrote a
// response. The error is the message for the API server.
//
// Like the engine, Convert ignores failedMessage and the number of converted objects. Only the
// versions of the objects matter.
func (s *State) Convert(crd string, request map[string]any, objects []*unstructured.Unstructured,
	run func(Task) (converted []*unstructured.Unstructured, responded bool, err error)) ([]*unstructured.Unstructured, error) {
	to := fmt.Sprint(request["desiredAPIVersion"])
	for _, from := range versions(objects) {
		for _, step := range s.conversions(crd).find(rule{from, to}) {
			t, found := s.conversion(crd, step, request, objects)
			if !found {
				return nil, fmt.Errorf("no hook found for 'kubernetesCustomResourceConversion' event for crd/%s", crd)
			}
			converted, responded, err := run(t)
			switch {
			case err != nil:
				return nil, fmt.Errorf("Hook failed to convert to %s", to) // the engine's message
			case !responded:
				return nil, fmt.Errorf("handle ConversionReview: hook task prop error")
			}
			if objects = converted; slices.Equal(versions(objects), []string{to}) {
				return objects, nil
			}
		}
	}
	return nil, fmt.Errorf("Conversion %s to %s was not successful", crd, to) //nolint:staticcheck // the engine's message
}

// ConversionStep is one conversion of a path, with the hook that performs it.
type ConversionStep struct{ Hook, From, To string }

// ConversionPath returns the conversions that lead from one version of a CRD to another. The
// result is empty if there is no path.
func (s *State) ConversionPath(crd, from, to string) []ConversionStep {
	var steps []ConversionStep
	for _, r := range s.conversions(crd).find(rule{from, to}) {
		h, _ := s.converter(crd, r)
		steps = append(steps, ConversionStep{h.Name, r.from, r.to})
	}
	return steps
}

// ConversionOnly returns the hook with its conversions as the only bindings. If a conversion uses
// snapshots, the hook keeps its kubernetes bindings, but they do not trigger it.
func (h Hook) ConversionOnly() Hook {
	c := &config.Config{Version: h.Config.Version, Conversion: h.Config.Conversion}
	if slices.ContainsFunc(c.Conversion, func(v config.Conversion) bool { return v.Group != "" || len(v.IncludeSnapshotsFrom) > 0 }) {
		c.Kubernetes = slices.Clone(h.Config.Kubernetes)
	}
	disabled := false
	for i := range c.Kubernetes {
		c.Kubernetes[i].ExecuteHookOnEvent, c.Kubernetes[i].ExecuteHookOnSynchronization = []string{}, &disabled
	}
	return Hook{h.Hook, c}
}

// Converts reports whether hooks can convert a CRD from one version to another.
func (s *State) Converts(crd, from, to string) bool {
	return from != to && s.conversions(crd).find(rule{from, to}) != nil
}

// conversion returns the task for one conversion step.
func (s *State) conversion(crd string, step rule, request map[string]any, objects []*unstructured.Unstructured) (t Task, found bool) {
	h, v := s.converter(crd, step)
	if h == nil {
		return t, false
	}
	ctx, _ := h.contexts().Conversion(v, step.from, step.to, request, objects)
	return Task{Hook: h.Hook, Contexts: []binding.Context{ctx}}, true
}

// converter returns the last binding with a rule, and its hook. The hook is nil if no binding has
// the rule.
func (s *State) converter(crd string, step rule) (hook *hookState, binding config.Conversion) {
	for _, h := range s.hooks {
		for _, v := range h.Config.Conversion {
			for _, r := range v.Conversions {
				if v.CRDName == crd && r.FromVersion == step.from && r.ToVersion == step.to {
					hook, binding = h, v
				}
			}
		}
	}
	return hook, binding
}

// conversions returns the conversions of all hooks for a CRD.
func (s *State) conversions(crd string) *conversionGraph {
	c := &conversionGraph{paths: map[rule][]rule{}}
	for _, h := range s.hooks {
		for _, v := range h.Config.Conversion {
			for _, r := range v.Conversions {
				if v.CRDName == crd {
					c.add(rule{r.FromVersion, r.ToVersion})
				}
			}
		}
	}
	return c
}

// versions returns the distinct API versions of objects, in order of appearance.
func versions(objects []*unstructured.Unstructured) []string {
	var all []string
	for _, o := range objects {
		if v := o.GetAPIVersion(); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}
