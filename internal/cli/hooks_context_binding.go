package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
)

// asFlag is what --event calls an event that a context or a configuration names.
func asFlag(event string) string {
	for of, flag := range map[string]string{"synchronization": "sync", "onstartup": "startup", "kubernetesvalidating": "validating", "kubernetesmutating": "mutating"} {
		if strings.EqualFold(event, of) {
			return flag
		}
	}
	return event
}

// synchronization is the context at the start. That of a group has all of its bindings
// in it, and the name of the last: so it may be meant when no other binding is there.
func (o *hooksContext) synchronization(conf *config.Config, h happening) (binding.Context, error) {
	all := conf.Kubernetes
	if grouped := all; o.binding == "" && len(grouped) > 1 && grouped[0].Group != "" &&
		!slices.ContainsFunc(grouped, func(k config.Kubernetes) bool { return k.Group != grouped[0].Group }) {
		all = grouped[len(grouped)-1:]
	}
	k, err := pick(o.binding, "kubernetes binding", all, config.Kubernetes.BindingName)
	if err != nil {
		return nil, err
	}
	return h.cluster.Synchronization(conf, k)
}

// change is the context of an event of an object. Of several bindings that one is meant
// which the object is an event for.
func (o *hooksContext) change(conf *config.Config, h happening) (binding.Context, error) {
	object, err := o.one(h.objects)
	if err != nil {
		return nil, err
	}
	cluster := h.cluster.After(o.event, object)
	var last binding.Context
	var run []config.Kubernetes
	for _, k := range conf.Kubernetes {
		if o.binding != "" && k.BindingName() != o.binding {
			continue
		}
		made, err := cluster.Event(conf, k, o.event, object, h.old)
		if notRun := (*binding.NotRunError)(nil); errors.As(err, &notRun) && o.binding == "" && len(conf.Kubernetes) > 1 {
			continue
		}
		if err != nil {
			return nil, err
		}
		last, run = made, append(run, k)
	}
	switch {
	case len(run) == 1:
		return last, nil
	case len(run) == 0 && o.binding == "" && len(conf.Kubernetes) > 0:
		return nil, &binding.NotRunError{Reason: fmt.Sprintf("none of its %d kubernetes bindings is for this; --binding tells why one is not", len(conf.Kubernetes))}
	case len(run) == 0:
		run = conf.Kubernetes
	}
	_, err = pick(o.binding, "kubernetes binding", run, config.Kubernetes.BindingName)
	return nil, err
}
