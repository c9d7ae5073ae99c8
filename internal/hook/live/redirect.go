package live

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hook/kinds"
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
	at := func(kind kinds.Kind, name string) error {
		i, err := c.inform(ctx, scope{kind: kind, options: metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()}})
		if err == nil {
			follow = append(follow, i)
		}
		return err
	}
	for _, kind := range []kinds.Kind{validatingKind, mutatingKind} {
		if err := c.deregister(ctx, kind); err != nil { // what a run left that was killed
			return nil, err
		}
		if err := at(kind, ConfigurationName); err != nil {
			return nil, err
		}
		if len(follow[len(follow)-1].objects()) > 0 {
			return nil, c.taken(kind)
		}
	}
	for _, name := range r.CRDs {
		if err := c.keepConversion(ctx, name); err != nil {
			return nil, err
		}
		if err := at(crdKind, name); err != nil {
			return nil, err
		}
	}
	var running sync.WaitGroup
	for _, i := range follow {
		running.Go(func() {
			i.run(ctx, News{Trouble: trouble, Event: func(event string, o *unstructured.Unstructured) {
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
		errs := []error{c.deregister(clean, validatingKind), c.deregister(clean, mutatingKind)}
		for _, name := range r.CRDs {
			errs = append(errs, c.convertAsBefore(clean, name))
		}
		return errors.Join(errs...)
	}, nil
}

func (c *Cluster) taken(kind kinds.Kind) error {
	return fault.Failed("end it, and delete what it left: kubectl --context "+c.Context+" delete "+kind.Resource+" "+ConfigurationName,
		"%s %s is there: a shell-operator registered its webhooks in this cluster", kind.Kind, ConfigurationName)
}

// redirect writes addresses of this machine in the place of Services.
func (c *Cluster) redirect(ctx context.Context, kind kinds.Kind, o *unstructured.Unstructured, r Redirection) error {
	o = o.DeepCopy()
	changed := false
	address := func(client map[string]any, url string) {
		if path, found, _ := unstructured.NestedString(client, "service", "path"); found {
			delete(client, "service")
			client["url"] = url + path
			changed = true
		}
	}
	if kind.Kind == crdKind.Kind {
		client, found, err := unstructured.NestedMap(o.Object, "spec", "conversion", "webhook", "clientConfig")
		if err != nil || !found {
			return err
		}
		address(client, r.Conversion)
		if err := unstructured.SetNestedMap(o.Object, client, "spec", "conversion", "webhook", "clientConfig"); err != nil {
			return err
		}
	} else {
		webhooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
		if err != nil {
			return err
		}
		for _, w := range webhooks {
			if client, isMap := w.(map[string]any)["clientConfig"].(map[string]any); isMap {
				address(client, r.Admission)
			}
		}
		o.Object["webhooks"] = webhooks
		o.SetLabels(map[string]string{owned: ownedValue})
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
