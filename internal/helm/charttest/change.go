package charttest

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// change makes the change of an event.
func (s *session) change(ctx context.Context, e Event) error {
	api, o := s.cluster.User(), e.Object
	k, err := api.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return err
	}
	if e.Type == "delete" {
		return api.Delete(ctx, k, o.GetNamespace(), o.GetName(), metav1.DeletePropagationBackground)
	}
	if e.Type == "patch" {
		body, err := json.Marshal(o.Object)
		if err == nil {
			_, err = api.Patch(ctx, k, o.GetNamespace(), o.GetName(), types.MergePatchType, body, "")
		}
		return err
	}
	existing, err := api.Get(ctx, k, o.GetNamespace(), o.GetName())
	if apierrors.IsNotFound(err) {
		_, err = api.Create(ctx, k, o)
		return err
	}
	if err != nil {
		return err
	}
	next := o.DeepCopy()
	next.SetUID(existing.GetUID())
	next.SetResourceVersion(existing.GetResourceVersion())
	next.SetFinalizers(existing.GetFinalizers())
	next.SetOwnerReferences(existing.GetOwnerReferences())
	_, err = api.Update(ctx, k, next, "")
	return err
}
