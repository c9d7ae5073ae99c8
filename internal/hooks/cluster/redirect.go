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

// Redirection points the webhooks that an engine registers to this machine, because
// the engine registers them with a Service.
type Redirection struct {
	Admission, Conversion string   // URLs, without a trailing slash
	CRDs                  []string // names of CRDs that hooks convert
}

// Redirect watches what an engine registers until ctx ends, and reports webhooks that
// it cannot redirect. After that, remove restores the previous state. Redirect fails if
// another program has registered webhooks.
func (c *Cluster) Redirect(ctx context.Context, r Redirection, report func(error)) (remove func(context.Context) error, err error) {
	var informers []*informer
	for _, kind := range []kinds.Kind{validatingKind, mutatingKind} {
		i, err := c.informUnregistered(ctx, kind)
		if err != nil {
			return nil, err
		}
		informers = append(informers, i)
	}
	for _, name := range r.CRDs {
		if err := c.saveConversion(ctx, name); err != nil {
			return nil, err
		}
		i, err := c.informObject(ctx, crdKind, name)
		if err != nil {
			return nil, err
		}
		informers = append(informers, i)
	}
	var running sync.WaitGroup
	for _, i := range informers {
		running.Go(func() {
			i.run(ctx, EventHandler{Error: report, Event: func(event string, o *unstructured.Unstructured) {
				if event == "Deleted" {
					return
				}
				if err := c.redirect(ctx, i.kind, o, r); err != nil && !apierrors.IsConflict(err) && ctx.Err() == nil {
					report(err) // a conflict is followed by another event
				}
			}})
		})
	}
	return func(cleanup context.Context) error {
		running.Wait()
		errs := []error{c.deregister(cleanup, validatingKind, c.configuration(), r.Admission), c.deregister(cleanup, mutatingKind, c.configuration(), r.Admission)}
		for _, name := range r.CRDs {
			errs = append(errs, c.restoreConversion(cleanup, name, r.Conversion))
		}
		return errors.Join(errs...)
	}, nil
}

// informObject returns an informer of one object.
func (c *Cluster) informObject(ctx context.Context, kind kinds.Kind, name string) (*informer, error) {
	return c.inform(ctx, scope{kind: kind, options: metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()}})
}

// informUnregistered removes the webhook configuration of a run that has ended, and
// returns an informer once the configuration does not exist.
func (c *Cluster) informUnregistered(ctx context.Context, kind kinds.Kind) (*informer, error) {
	const interval = 100 * time.Millisecond // a finalizer can delay the deletion
	for {
		if err := c.deregister(ctx, kind, c.configuration(), ""); err != nil {
			return nil, err
		}
		i, err := c.informObject(ctx, kind, c.configuration())
		if err != nil {
			return nil, err
		}
		existing := i.objects()
		if len(existing) == 0 {
			return i, nil
		}
		if err := c.checkReplaceable(ctx, kind, existing[0], ""); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(interval):
		}
	}
}

// redirect replaces the Services of an object's webhooks with URLs of this machine.
func (c *Cluster) redirect(ctx context.Context, kind kinds.Kind, o *unstructured.Unstructured, r Redirection) error {
	o = o.DeepCopy()
	to := r.Admission
	if kind.Kind == crdKind.Kind {
		to = r.Conversion
	} else {
		o.SetLabels(map[string]string{managedByLabel: managedByValue})
	}
	changed := false
	for _, client := range clientConfigs(o) {
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
		return fmt.Errorf("redirect %s %s to this machine: %w", kind.Kind, o.GetName(), err)
	}
	return nil
}
