package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/operon-dev/operon/internal/hooks/kinds"
)

// Redirection makes what an engine registers lead to this machine: the engine
// knows a Service only.
type Redirection struct {
	Admission, Conversion string   // URLs, without a slash at the end
	CRDs                  []string // that hooks convert, by name
}

// Redirect follows what an engine registers until ctx ends, and has trouble told
// about what cannot be redirected. remove then takes it all back. An error says
// that somebody else registered webhooks already.
func (c *Cluster) Redirect(ctx context.Context, r Redirection, trouble func(error)) (remove func(context.Context) error, err error) {
	var follow []*informer
	for _, kind := range []kinds.Kind{validatingKind, mutatingKind} {
		i, err := c.vacant(ctx, kind)
		if err != nil {
			return nil, err
		}
		follow = append(follow, i)
	}
	for _, name := range r.CRDs {
		if err := c.keepConversion(ctx, name); err != nil {
			return nil, err
		}
		i, err := c.at(ctx, crdKind, name)
		if err != nil {
			return nil, err
		}
		follow = append(follow, i)
	}
	var running sync.WaitGroup
	for _, i := range follow {
		running.Go(func() {
			i.run(ctx, EventHandler{Trouble: trouble, Event: func(event string, o *unstructured.Unstructured) {
				if event == "Deleted" {
					return
				}
				if err := c.redirect(ctx, i.kind, o, r); err != nil && !apierrors.IsConflict(err) && ctx.Err() == nil {
					trouble(err) // after a conflict the next event tells
				}
			}})
		})
	}
	return func(clean context.Context) error {
		running.Wait()
		errs := []error{c.deregister(clean, validatingKind, r.Admission), c.deregister(clean, mutatingKind, r.Admission)}
		for _, name := range r.CRDs {
			errs = append(errs, c.convertAsBefore(clean, name, r.Conversion))
		}
		return errors.Join(errs...)
	}, nil
}

// at informs of one object.
func (c *Cluster) at(ctx context.Context, kind kinds.Kind, name string) (*informer, error) {
	return c.inform(ctx, scope{kind: kind, options: metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()}})
}

// vacant informs of the configuration of a kind, from when there is none: what a run
// left that was killed, or has just ended, it removes.
func (c *Cluster) vacant(ctx context.Context, kind kinds.Kind) (*informer, error) {
	const soon = 100 * time.Millisecond // for a finalizer may delay the deletion
	for {
		if err := c.deregister(ctx, kind, ""); err != nil {
			return nil, err
		}
		i, err := c.at(ctx, kind, ConfigurationName)
		if err != nil {
			return nil, err
		}
		there := i.objects()
		if len(there) == 0 {
			return i, nil
		}
		if err := c.checkReplaceable(ctx, kind, there[0], ""); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(soon):
		}
	}
}

// redirect writes addresses of this machine in the place of Services.
func (c *Cluster) redirect(ctx context.Context, kind kinds.Kind, o *unstructured.Unstructured, r Redirection) error {
	o = o.DeepCopy()
	to := r.Admission
	if kind.Kind == crdKind.Kind {
		to = r.Conversion
	} else {
		o.SetLabels(map[string]string{owned: ownedValue})
	}
	changed := false
	for _, client := range clients(o) {
		if path, found, _ := unstructured.NestedString(client, "service", "path"); found {
			delete(client, "service")
			client["url"] = to + path
			changed = true
		}
	}
	if !changed {
		return nil
	}
	_, err := c.Update(ctx, kind, o, "")
	if err != nil {
		return fmt.Errorf("have %s %s lead to this machine: %w", kind.Kind, o.GetName(), err)
	}
	return nil
}
