package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// approve approves an InstallPlan.
func (t *task) approve(ctx context.Context, name string) error {
	o, err := t.get(ctx, installPlans, t.namespace, name)
	if err != nil || o == nil {
		return err
	}
	all, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "clusterServiceVersionNames")
	if err := t.removeSteps(ctx, o); err != nil {
		return err
	}
	if _, err := t.on(installPlans, t.namespace).Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"approved":true}}`), metav1.PatchOptions{}); err != nil {
		return explain(ctx, fmt.Errorf("approve InstallPlan %s: %w", name, err))
	}
	slices.Sort(all)
	t.Note("approved InstallPlan %s: %s", name, strings.Join(all, ", "))
	return nil
}

// removeSteps makes a failure of the task remove what OLM creates for an InstallPlan, and restore what
// it changes, except for CRDs. The status of its steps does not say what existed before: OLM may
// execute a step twice.
func (t *task) removeSteps(ctx context.Context, plan *unstructured.Unstructured) error {
	var created []planStep
	var changed []former
	for _, s := range objects(plan.Object, "status", "plan") {
		step := planStep{text(s, "resource", "group"), text(s, "resource", "version"), text(s, "resource", "kind"), text(s, "resource", "name")}
		if r, namespace, err := t.find(ctx, step); err == nil {
			if o, err := t.get(ctx, r, namespace, step.name); err != nil {
				return err
			} else if o != nil {
				if r.GroupVersionResource != crds.GroupVersionResource {
					changed = append(changed, former{r, o})
				}
				continue
			}
		}
		created = append(created, step)
	}
	t.undo = append(t.undo, undo{"objects of InstallPlan " + plan.GetName(), func(ctx context.Context) error {
		if err := t.detach(ctx); err != nil {
			return err
		}
		if _, err := t.remove(ctx, installPlans, t.namespace, plan.GetName()); err != nil {
			return err
		}
		if err := t.vanish(ctx, func() (string, error) { return t.removeObjects(ctx, created) }); err != nil {
			return err
		}
		for _, f := range changed {
			if err := t.restore(ctx, f); err != nil {
				return fmt.Errorf("restore %s %s: %w", f.kind, f.object.GetName(), err)
			}
		}
		return nil
	}})
	return nil
}

// restore gives an object its former content. The garbage collector may be deleting it.
func (t *task) restore(ctx context.Context, f former) error {
	client := t.on(f.resource, f.object.GetNamespace())
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
		default:
			f.object.SetResourceVersion(now.GetResourceVersion())
			f.object.SetUID(now.GetUID())
			_, err = client.Update(ctx, f.object, metav1.UpdateOptions{})
		}
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
			return false, err.Error(), nil
		}
		return err == nil, "", err
	})
	if err == nil {
		t.Note("restored %s %s", f.kind, f.object.GetName())
	}
	return err
}

// former is an object before an InstallPlan changes it.
type former struct {
	resource

	object *unstructured.Unstructured
}

// removeObjects removes objects in the reverse order, and says which one it has found.
func (t *task) removeObjects(ctx context.Context, all []planStep) (found string, err error) {
	if err := t.removeOperators(ctx, all); err != nil { // they create the other objects again
		return "", err
	}
	for _, s := range slices.Backward(all) {
		r, namespace, err := t.find(ctx, s)
		if err != nil {
			continue // its kind is gone, and so are its objects
		}
		existed, err := t.remove(ctx, r, namespace, s.name)
		if err != nil {
			return "", err
		}
		if existed {
			found = s.kind + " " + s.name
		}
	}
	return found, nil
}

// planStep is an object that an InstallPlan creates.
type planStep struct{ group, version, kind, name string }

// find returns the resource of an object, and its namespace. The error means that the cluster does
// not know its kind.
func (t *task) find(ctx context.Context, s planStep) (r resource, namespace string, err error) {
	gvr, namespaced, err := t.Resource(ctx, strings.TrimPrefix(s.group+"/"+s.version, "/"), s.kind)
	if namespaced {
		namespace = t.namespace
	}
	return resource{gvr, s.kind}, namespace, err
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
