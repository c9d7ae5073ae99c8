package event

import (
	"errors"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// synchronization returns the start-up context. If all bindings belong to one group, the default
// is the last binding, because the engine combines their contexts and uses its name.
func (e Event) synchronization(conf *config.Config, in input) (binding.Context, error) {
	all := conf.Kubernetes
	if grouped := all; e.Binding == "" && len(grouped) > 1 && grouped[0].Group != "" &&
		!slices.ContainsFunc(grouped, func(k config.Kubernetes) bool { return k.Group != grouped[0].Group }) {
		all = grouped[len(grouped)-1:]
	}
	k, err := choose(e.Binding, "kubernetes binding", all, config.Kubernetes.BindingName)
	if err != nil {
		return nil, err
	}
	return in.cluster.Synchronization(conf, k)
}

// change returns the context of a changed object. Without a name, it is the context of the only
// binding that selects the object.
func (e Event) change(conf *config.Config, in input) (binding.Context, error) {
	object, err := e.oneObject(in.objects)
	if err != nil {
		return nil, err
	}
	cluster := in.cluster.After(e.Type, object)
	var result binding.Context
	var selecting []config.Kubernetes
	for _, k := range conf.Kubernetes {
		if e.Binding != "" && k.BindingName() != e.Binding {
			continue
		}
		ctx, err := cluster.Event(conf, k, e.Type, object, in.old)
		if notRun := (*binding.NotRunError)(nil); errors.As(err, &notRun) && e.Binding == "" && len(conf.Kubernetes) > 1 {
			continue
		}
		if err != nil {
			return nil, err
		}
		result, selecting = ctx, append(selecting, k)
	}
	switch {
	case len(selecting) == 1:
		return result, nil
	case len(selecting) == 0 && e.Binding == "" && len(conf.Kubernetes) > 0:
		return nil, &binding.NotRunError{Reason: fmt.Sprintf("none of its %d kubernetes bindings selects this event; --binding NAME shows the reason for one of them", len(conf.Kubernetes))}
	case len(selecting) == 0:
		selecting = conf.Kubernetes
	}
	_, err = choose(e.Binding, "kubernetes binding", selecting, config.Kubernetes.BindingName)
	return nil, err
}

// oneObject returns the object of an event that needs exactly one.
func (e Event) oneObject(objects []*unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if len(objects) != 1 {
		return nil, fault.Usage("use --object file.yaml with one object in the file; --given is for other objects in the cluster", "--event %s needs one object, got %d", e.Type, len(objects))
	}
	return objects[0], nil
}
