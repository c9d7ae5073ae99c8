package engine

import (
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Admission makes the task that answers a request to a webhook of a hook, by its
// place among those that validate or mutate. It waits in no queue and is not tried
// again. The request is that of an AdmissionReview.
func (s *State) Admission(hook string, place int, mutates bool, request map[string]any) Task {
	h := s.hook(hook)
	webhooks := h.Config.Validating
	if mutates {
		webhooks = h.Config.Mutating
	}
	ctx, _ := h.contexts().Review(webhooks[place], mutates, request) // the snapshots are at hand
	return Task{Hook: h.Hook, Contexts: []binding.Context{ctx}}
}

// Convert answers a request to convert objects of a CRD: it runs hooks along the
// shortest way from the version of the objects to the one that is asked for. The
// request is that of a ConversionReview, but for its objects. run runs a hook and
// gives the objects of its answer, and whether it wrote one. An error is what the
// API server is told.
//
// What a hook says in failedMessage is not passed on, and how many objects it gives
// is not counted: only their versions decide, as in the engine.
func (s *State) Convert(crd string, request map[string]any, objects []*unstructured.Unstructured,
	run func(Task) (converted []*unstructured.Unstructured, answered bool, err error)) ([]*unstructured.Unstructured, error) {
	to := fmt.Sprint(request["desiredAPIVersion"])
	for _, from := range versions(objects) {
		for _, step := range s.chain(crd).find(rule{from, to}) {
			t, found := s.conversion(crd, step, request, objects)
			if !found {
				return nil, fmt.Errorf("no hook found for 'kubernetesCustomResourceConversion' event for crd/%s", crd)
			}
			converted, answered, err := run(t)
			switch {
			case err != nil:
				return nil, fmt.Errorf("Hook failed to convert to %s", to) // the engine's words
			case !answered:
				return nil, fmt.Errorf("handle ConversionReview: hook task prop error")
			}
			if objects = converted; slices.Equal(versions(objects), []string{to}) {
				return objects, nil
			}
		}
	}
	return nil, fmt.Errorf("Conversion %s to %s was not successful", crd, to) //nolint:staticcheck // the engine's words
}

// ConversionStep is one of several conversions, and whose it is.
type ConversionStep struct{ Hook, From, To string }

// ConversionPath are the conversions that lead from one version of a CRD's objects to another, or
// none.
func (s *State) ConversionPath(crd, from, to string) []ConversionStep {
	var steps []ConversionStep
	for _, r := range s.chain(crd).find(rule{from, to}) {
		h, _ := s.converter(crd, r)
		steps = append(steps, ConversionStep{h.Name, r.from, r.to})
	}
	return steps
}

// Answering is a hook without what runs it, but for the conversions: with what these
// have snapshots of.
func (h Hook) Answering() Hook {
	c := &config.Config{Version: h.Config.Version, Conversion: h.Config.Conversion}
	if slices.ContainsFunc(c.Conversion, func(v config.Conversion) bool { return v.Group != "" || len(v.IncludeSnapshotsFrom) > 0 }) {
		c.Kubernetes = slices.Clone(h.Config.Kubernetes)
	}
	never := false
	for i := range c.Kubernetes {
		c.Kubernetes[i].ExecuteHookOnEvent, c.Kubernetes[i].ExecuteHookOnSynchronization = []string{}, &never
	}
	return Hook{h.Hook, c}
}

// Converts reports whether there is a way from one version of a CRD's objects to
// another.
func (s *State) Converts(crd, from, to string) bool {
	return from != to && s.chain(crd).find(rule{from, to}) != nil
}

// conversion makes the task for one rule.
func (s *State) conversion(crd string, step rule, request map[string]any, objects []*unstructured.Unstructured) (t Task, found bool) {
	h, v := s.converter(crd, step)
	if h == nil {
		return t, false
	}
	ctx, _ := h.contexts().Conversion(v, step.from, step.to, request, objects)
	return Task{Hook: h.Hook, Contexts: []binding.Context{ctx}}, true
}

// converter is the last binding that has a rule, with its hook, or nil.
func (s *State) converter(crd string, step rule) (found *hookState, binding config.Conversion) {
	for _, h := range s.hooks {
		for _, v := range h.Config.Conversion {
			for _, r := range v.Conversions {
				if v.CRDName == crd && r.FromVersion == step.from && r.ToVersion == step.to {
					found, binding = h, v
				}
			}
		}
	}
	return found, binding
}

// chain are the conversions of all hooks for a CRD.
func (s *State) chain(crd string) *conversionGraph {
	c := &conversionGraph{ways: map[rule][]rule{}}
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

// versions are those of objects, in the order of their appearance.
func versions(objects []*unstructured.Unstructured) []string {
	var all []string
	for _, o := range objects {
		if v := o.GetAPIVersion(); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}
