package cluster

import (
	"context"
	"fmt"
	"maps"

	"github.com/operon-dev/operon/internal/fault"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// apply creates an object, or changes one that operon created. A failure of the task removes or
// restores it.
func (t *task) apply(ctx context.Context, o unstructured.Unstructured) error {
	r, namespace, err := t.forManifest(ctx, o)
	if err != nil {
		return err
	}
	now, err := t.get(ctx, r, namespace, o.GetName())
	switch {
	case err != nil:
		return err
	case now == nil:
		return t.addObject(ctx, r, o)
	case !createdByOperon(*now):
		return notOperons(r, o.GetName())
	case sameContent(now, merged(now, o)):
		return nil
	}
	t.undo = append(t.undo, undo{r.kind + " " + o.GetName(), func(ctx context.Context) error {
		return t.restore(ctx, previousObject{r, now})
	}})
	return t.change(ctx, r, o)
}

// addObject creates an object, which a failure of the task removes.
func (t *task) addObject(ctx context.Context, r resource, o unstructured.Unstructured) error {
	var uid types.UID // stays empty if the answer to the request is lost
	t.undo = append(t.undo, undo{r.kind + " " + o.GetName(), func(ctx context.Context) error {
		if r == clusterExtensions {
			now, err := t.get(ctx, r, "", o.GetName())
			if err != nil || now != nil && !createdByOperon(*now) { // a user's, created in the meantime
				return err
			}
			return t.removeExtension(ctx, o.GetName(), uid)
		}
		_, err := t.removeCreated(ctx, r, o.GetNamespace(), o.GetName(), uid)
		return err
	}})
	created, err := t.client(r, o.GetNamespace()).Create(ctx, &o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		t.undo = t.undo[:len(t.undo)-1]
		return fault.Failed("delete it, or wait until the other command ends", "%s %s exists already", r.kind, o.GetName())
	}
	if err != nil {
		return explain(ctx, fmt.Errorf("create %s %s: %w", r.kind, o.GetName(), err))
	}
	uid = created.GetUID()
	t.Note("created %s %s", r.kind, o.GetName())
	return nil
}

// change gives an object new content. Controllers change it at the same time.
func (c *Client) change(ctx context.Context, r resource, o unstructured.Unstructured) error {
	return c.until(ctx, func() (bool, string, error) {
		now, err := c.get(ctx, r, o.GetNamespace(), o.GetName())
		switch {
		case err != nil:
			return false, "", err
		case now == nil:
			return false, "", fault.Failed("another client deleted it; to start again: operon run bundle BUNDLE", "%s %s does not exist any more", r.kind, o.GetName())
		}
		_, err = c.client(r, o.GetNamespace()).Update(ctx, merged(now, o), metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			return false, "another client is changing " + r.kind + " " + o.GetName(), nil
		}
		if err == nil {
			c.Note("changed %s %s", r.kind, o.GetName())
		}
		return err == nil, "", explain(ctx, err)
	})
}

// merged returns an object with other content. Metadata such as finalizers stay.
func merged(now *unstructured.Unstructured, o unstructured.Unstructured) *unstructured.Unstructured {
	next := now.DeepCopy()
	for key, value := range o.Object {
		if key != "metadata" {
			next.Object[key] = value
		}
	}
	next.SetLabels(union(now.GetLabels(), o.GetLabels()))
	next.SetAnnotations(union(now.GetAnnotations(), o.GetAnnotations()))
	return next
}

func union(a, b map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	if len(all) == 0 {
		return nil
	}
	return all
}
