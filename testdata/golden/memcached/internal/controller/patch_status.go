package controller

// This file writes the status of objects. Delete it and patch_status_test.go when no
// controller in this package calls patchStatus.

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patchStatus writes the status of obj if it differs from the status of before, and
// waits until c returns the new version. It ignores an object that was deleted.
//
// c reads from a cache, which is updated with a delay. Without the wait, the next
// Reconcile could compare its result with the old status, find no difference and
// leave the new status in place although it is outdated. The update of the cache
// does not trigger Reconcile.
func patchStatus(ctx context.Context, c client.Client, before, obj client.Object) error {
	// A merge patch replaces the whole list of conditions. With the optimistic lock
	// it fails if another client changed the object, and Reconcile runs again.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, obj, patch); err != nil {
		return client.IgnoreNotFound(err)
	}
	cached := obj.DeepCopyObject().(client.Object)
	return wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(obj), cached); err != nil {
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		}
		order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), obj.GetResourceVersion())
		return order >= 0, err
	})
}
