package operator

import (
	"context"

	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/engine"
)

// enable lists and then watches the objects that the bindings of a hook select.
func (o *Operator) enable(h *runningHook, t engine.Task) error {
	for _, ref := range t.Bindings {
		if h.bound[ref] {
			continue // bound by an earlier attempt
		}
		if err := o.bind(h, ref); err != nil {
			if h.ctx.Err() == nil {
				retryIn := engine.RetryDelay(t.Failures + 1)
				o.report(Run{At: o.Now(), Hook: h.Name, Queue: t.Queue, Enabling: h.Config.Kubernetes[ref.Index].BindingName(), Err: err, RetryIn: retryIn})
			}
			return err
		}
		h.bound[ref] = true
	}
	return nil
}

func (o *Operator) bind(h *runningHook, ref engine.Ref) error {
	b, err := o.Cluster.Bind(h.ctx, h.Config.Kubernetes[ref.Index])
	if err != nil {
		return err
	}
	if err := o.listed(h, ref, b.Objects()); err != nil {
		return err
	}
	h.running.Go(func() { b.Run(h.ctx, o.eventHandler(h, ref)) })
	return nil
}

// listed passes the objects of a binding to the state, unless the hook was replaced while the API
// server listed them.
func (o *Operator) listed(h *runningHook, ref engine.Ref, objects []*unstructured) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if h.ctx.Err() != nil {
		return context.Cause(h.ctx)
	}
	return o.state.BindingListed(ref, objects)
}

// eventHandler returns a handler that passes events of informers to the state.
func (o *Operator) eventHandler(h *runningHook, ref engine.Ref) cluster.EventHandler {
	change := func(what func() error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if h.ctx.Err() != nil {
			return
		}
		if err := what(); err != nil {
			o.Warn(h.Name, err)
		}
		o.kick()
	}
	return cluster.EventHandler{
		Event: func(event string, object *unstructured) {
			change(func() error { return o.state.ObjectChanged(ref, event, object) })
		},
		Selected: func(_ string, objects []*unstructured) {
			change(func() error { return o.state.NamespaceSelected(ref, objects) })
		},
		Unselected: func(namespace string) {
			change(func() error { o.state.NamespaceUnselected(ref, namespace); return nil })
		},
		Error: func(err error) {
			if h.ctx.Err() == nil {
				o.Warn(h.Name, err)
			}
		},
	}
}
