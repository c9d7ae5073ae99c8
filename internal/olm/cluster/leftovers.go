package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
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

// previousKey is the annotation of a ClusterExtension that is being upgraded with what an upgrade replaces,
// as JSON. It lets the next command restore that if this one is killed.
const previousKey = "operon.dev/previous"

// previousVersion is a ClusterExtension and its ClusterCatalog before an upgrade.
type previousVersion struct {
	Extension, Catalog map[string]any
}

// recordPrevious stores a ClusterExtension and its ClusterCatalog in the annotation. nil removes it.
func (t *task) recordPrevious(ctx context.Context, extension, catalog *unstructured.Unstructured) error {
	var value any
	if catalog != nil {
		record := previousVersion{extension.DeepCopy().Object, catalog.DeepCopy().Object}
		for _, o := range []map[string]any{record.Extension, record.Catalog} {
			unstructured.RemoveNestedField(o, "metadata", "managedFields")
		}
		content, err := json.Marshal(record)
		if err != nil {
			return err
		}
		value = string(content)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{previousKey: value}}})
	if err != nil {
		return err
	}
	_, err = t.client(clusterExtensions, "").Patch(ctx, extension.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	return explain(ctx, err)
}

// restorePrevious undoes an upgrade that was killed, unless the bundle of the task is installed since then.
// It returns the ClusterExtension as it is afterwards.
func (t *task) restorePrevious(ctx context.Context, found *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	content, ok := found.GetAnnotations()[previousKey]
	if !ok {
		return found, nil
	}
	source := jsonvalue.Map(found.Object, "spec", "source", "catalog")
	if isInstalled(found, t.bundle.Name()) && source["version"] == t.bundle.Version() && source["upgradeConstraintPolicy"] != selfCertified {
		return found, t.recordPrevious(ctx, found, nil)
	}
	var record previousVersion
	if err := utiljson.Unmarshal([]byte(content), &record); err != nil {
		return nil, fmt.Errorf("annotation %s of %s %s: %w", previousKey, clusterExtensions.kind, found.GetName(), err)
	}
	extension, catalog := &unstructured.Unstructured{Object: record.Extension}, &unstructured.Unstructured{Object: record.Catalog}
	if extension.GetName() != found.GetName() || catalog.GetName() != objectName(t.bundle.Package()) {
		return nil, fault.Failed("remove the annotation", "annotation %s of %s %s is about other objects", previousKey, clusterExtensions.kind, found.GetName())
	}
	t.Note("restoring %s: its upgrade was interrupted", installedBundle(extension))
	if err := t.reinstall(ctx, extension, catalog); err != nil {
		return nil, t.diagnoseExtension(ctx, err)
	}
	return t.get(ctx, clusterExtensions, "", found.GetName())
}

// updateSubscription changes a Subscription. Its status changes often while OLM works.
func (c *Client) updateSubscription(ctx context.Context, namespace, name string, change func(*unstructured.Unstructured) (bool, error)) error {
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
