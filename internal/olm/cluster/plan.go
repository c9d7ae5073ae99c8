package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// approve approves an InstallPlan, unless it changes other operators too.
func (t *task) approve(ctx context.Context, name string) error {
	o, err := t.get(ctx, installPlans, t.namespace, name)
	if err != nil || o == nil {
		return err
	}
	all := jsonvalue.Strings(o.Object, "spec", "clusterServiceVersionNames")
	if err := t.refuseOtherOperators(ctx, o, all); err != nil {
		return err
	}
	if err := t.removeSteps(ctx, o); err != nil {
		return err
	}
	patch := []byte(`{"spec":{"approved":true}}`)
	if _, err := t.client(installPlans, t.namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return explain(ctx, fmt.Errorf("approve InstallPlan %s: %w", name, err))
	}
	slices.Sort(all)
	t.Note("approved InstallPlan %s: %s", name, strings.Join(all, ", "))
	return nil
}

// refuseOtherOperators returns an error if an InstallPlan for these ClusterServiceVersions also serves a
// Subscription to another package. OLM makes one InstallPlan for all Subscriptions of a namespace.
func (t *task) refuseOtherOperators(ctx context.Context, plan *unstructured.Unstructured, names []string) error {
	all, err := t.list(ctx, subscriptions, t.namespace, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, s := range all {
		if jsonvalue.String(s.Object, "spec", "name") == t.bundle.Package() {
			continue
		}
		current := jsonvalue.String(s.Object, "status", "currentCSV")
		owner := hasOwner(plan, s.GetUID())
		if owner || slices.Contains(names, current) {
			return fault.Failed("approve the upgrade of "+jsonvalue.String(s.Object, "spec", "name")+" first, or use another namespace",
				"InstallPlan %s would also install %s for Subscription %s", plan.GetName(), current, s.GetName())
		}
	}
	return nil
}

// removeSteps makes a failure of the task remove what OLM creates for an InstallPlan, and restore what
// it changes, except for CRDs. The status of its steps does not say what existed before: OLM may
// execute a step twice.
func (t *task) removeSteps(ctx context.Context, plan *unstructured.Unstructured) error {
	var created []planStep
	var changed []previousObject
	for _, s := range jsonvalue.Maps(plan.Object, "status", "plan") {
		field := func(name string) string { return jsonvalue.String(s, "resource", name) }
		step := planStep{field("group"), field("version"), field("kind"), field("name")}
		r, namespace, known, err := t.resourceOf(ctx, step)
		var o *unstructured.Unstructured
		if err == nil && known {
			o, err = t.get(ctx, r, namespace, step.name)
		}
		switch {
		case err != nil:
			return err
		case o == nil, step.kind == csvs.kind && step.name == t.bundle.Name(): // OLM may have created it already
			created = append(created, step)
		case r.GroupVersionResource != crds.GroupVersionResource:
			changed = append(changed, previousObject{r, o})
		}
	}
	t.undo = append(t.undo, undo{"objects of InstallPlan " + plan.GetName(), func(ctx context.Context) error {
		if err := t.detach(ctx); err != nil {
			return err
		}
		if _, err := t.remove(ctx, installPlans, t.namespace, plan.GetName()); err != nil {
			return err
		}
		if err := t.removeUntilGone(ctx, func() (string, error) { return t.removeObjects(ctx, created) }); err != nil {
			return err
		}
		var failed error
		for _, f := range changed {
			if err := t.restore(ctx, f); err != nil {
				failed = errors.Join(failed, fmt.Errorf("restore %s %s: %w", f.kind, f.object.GetName(), err))
			}
		}
		return failed
	}})
	return nil
}

// restore gives an object its previous content, unless it has it. The garbage collector may be
// deleting it.
func (t *task) restore(ctx context.Context, f previousObject) error {
	client, changed := t.client(f.resource, f.object.GetNamespace()), false
	err := t.until(ctx, func() (bool, string, error) {
		now, err := t.get(ctx, f.resource, f.object.GetNamespace(), f.object.GetName())
		switch {
		case err != nil:
			return false, "", err
		case now == nil:
			f.object.SetResourceVersion("")
			f.object.SetUID("")
			_, err = client.Create(ctx, f.object, metav1.CreateOptions{})
		case now.GetDeletionTimestamp() != nil:
			return false, waitsToBeDeleted(f.resource, now), nil
		case sameContent(now, f.object):
			return true, "", nil
		default:
			f.object.SetResourceVersion(now.GetResourceVersion())
			f.object.SetUID(now.GetUID())
			_, err = client.Update(ctx, f.object, metav1.UpdateOptions{})
		}
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
			return false, err.Error(), nil
		}
		changed = err == nil
		return changed, "", err
	})
	if changed {
		t.Note("restored %s %s", f.kind, f.object.GetName())
	}
	return err
}

// sameContent reports whether two versions of an object differ only in what the API server sets.
func sameContent(a, b *unstructured.Unstructured) bool {
	content := func(o *unstructured.Unstructured) map[string]any {
		o = o.DeepCopy()
		unstructured.RemoveNestedField(o.Object, "status")
		for _, field := range []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"} {
			unstructured.RemoveNestedField(o.Object, "metadata", field)
		}
		return o.Object
	}
	return equality.Semantic.DeepEqual(content(a), content(b))
}

// previousObject is an object before an InstallPlan changes it.
type previousObject struct {
	resource

	object *unstructured.Unstructured
}

// removeObjects removes objects in the reverse order, and says which one it has found.
func (t *task) removeObjects(ctx context.Context, all []planStep) (found string, err error) {
	if err := t.removeOperators(ctx, all); err != nil { // they create the other objects again
		return "", err
	}
	for _, s := range slices.Backward(all) {
		r, namespace, known, err := t.resourceOf(ctx, s)
		if err != nil {
			return "", err
		}
		if !known {
			continue // its kind is gone, and so are its objects
		}
		existed, err := t.remove(ctx, r, namespace, s.name)
		if err != nil {
			return "", err
		}
		if existed {
			found = r.kind + " " + s.name
		}
	}
	return found, nil
}

// planStep is an object that an InstallPlan creates.
type planStep struct{ group, version, kind, name string }

// resourceOf returns the resource of an object, and its namespace. known is false if the cluster does not
// know the kind.
func (t *task) resourceOf(ctx context.Context, s planStep) (r resource, namespace string, known bool, err error) {
	kind := s.kind
	if s.group == "" && kind == "BundleSecret" { // the name that OLM gives Secrets in bundles
		kind = "Secret"
	}
	gvr, namespaced, err := t.Resource(ctx, strings.TrimPrefix(s.group+"/"+s.version, "/"), kind)
	if namespaced {
		namespace = t.namespace
	}
	if isUnknownKind(err) {
		return r, "", false, nil
	}
	return resource{gvr, kind}, namespace, true, explain(ctx, err)
}

// UnknownKindError says that the cluster does not know a kind.
type UnknownKindError struct{ Err error }

func (e UnknownKindError) Error() string { return e.Err.Error() }
func (e UnknownKindError) Unwrap() error { return e.Err }

func isUnknownKind(err error) bool {
	_, unknown := errors.AsType[UnknownKindError](err)
	return unknown
}

// removeOperators removes the Subscriptions and the ClusterServiceVersions among the objects.
func (t *task) removeOperators(ctx context.Context, steps []planStep) error {
	for _, s := range steps {
		if s.group == groupV0 && s.kind == subscriptions.kind {
			if _, err := t.remove(ctx, subscriptions, t.namespace, s.name); err != nil {
				return err
			}
		}
	}
	for _, s := range steps {
		if s.group != groupV0 || s.kind != csvs.kind {
			continue
		}
		o, err := t.get(ctx, csvs, t.namespace, s.name)
		if err == nil && o != nil {
			err = t.removeCSV(ctx, *o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
