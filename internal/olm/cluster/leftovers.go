package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/operon-dev/operon/internal/jsonvalue"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// objectName is the name of the catalog and of the Subscription that operon creates for a package.
func objectName(pkg string) string { return operon + "-" + pkg }

// removeLeftovers removes the Subscription and the catalog of a command that was killed, and
// restores the Subscription that it changed.
func (c *Client) removeLeftovers(ctx context.Context, namespace, pkg string, found installed) error {
	for _, s := range found.subscriptions {
		var err error
		if createdByOperon(s) {
			_, err = c.remove(ctx, subscriptions, namespace, s.GetName())
		} else {
			err = c.restoreSubscription(ctx, namespace, s.GetName())
		}
		if err != nil {
			return err
		}
	}
	_, err := c.removeCatalog(ctx, namespace, pkg)
	return err
}

// removeCatalog removes the catalog of operon for a package, with the pod that serves it. existed
// is false if there was none.
func (c *Client) removeCatalog(ctx context.Context, namespace, pkg string) (existed bool, err error) {
	for _, r := range []resource{catalogSources, pods, configMaps} {
		one, err := c.removeCreated(ctx, r, namespace, objectName(pkg), "")
		existed = existed || one
		if err != nil {
			return existed, err
		}
	}
	return existed, nil
}

// specKey is the annotation with the original spec of a user's Subscription that operon has
// redirected, as JSON. It lets the next command restore the spec if this one is killed.
const specKey = "operon.dev/subscription-spec"

// redirect makes a user's Subscription use another catalog until restoreSubscription is called.
func (c *Client) redirect(ctx context.Context, namespace, name string, spec map[string]any) error {
	return c.updateSubscription(ctx, namespace, name, func(s *unstructured.Unstructured) (bool, error) {
		next := maps.Clone(jsonvalue.Map(s.Object, "spec"))
		if s.GetAnnotations()[specKey] == "" { // the answer to the first request may have been lost
			content, err := json.Marshal(next)
			if err != nil {
				return false, err
			}
			annotate(s, specKey, string(content))
		}
		maps.Copy(next, spec)
		s.Object["spec"] = next
		return true, nil
	})
}

// restoreSubscription restores the spec of a user's Subscription if operon has redirected it.
func (c *Client) restoreSubscription(ctx context.Context, namespace, name string) error {
	return c.updateSubscription(ctx, namespace, name, func(s *unstructured.Unstructured) (bool, error) {
		content, redirected := s.GetAnnotations()[specKey]
		if !redirected {
			return false, nil
		}
		var original map[string]any
		if err := utiljson.Unmarshal([]byte(content), &original); err != nil {
			return false, fmt.Errorf("annotation %s of Subscription %s: %w", specKey, name, err)
		}
		annotate(s, specKey, "")
		s.Object["spec"] = original
		return true, nil
	})
}

// updateSubscription changes a Subscription. Its status changes often while OLM works.
func (c *Client) updateSubscription(
	ctx context.Context, namespace, name string, change func(*unstructured.Unstructured) (bool, error),
) error {
	return c.until(ctx, func() (done bool, reason string, err error) {
		s, err := c.get(ctx, subscriptions, namespace, name)
		if err != nil || s == nil {
			return err == nil, "", err
		}
		if changed, err := change(s); err != nil || !changed {
			return err == nil, "", err
		}
		_, err = c.client(subscriptions, namespace).Update(ctx, s, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			return false, "another client is changing Subscription " + name, nil
		}
		if err == nil {
			c.Note("changed Subscription %s", name)
		}
		return err == nil, "", explain(ctx, err)
	})
}

// annotate sets an annotation, or removes it if the value is empty.
func annotate(o *unstructured.Unstructured, key, value string) {
	all := o.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	if all[key] = value; value == "" {
		delete(all, key)
	}
	o.SetAnnotations(all)
}
