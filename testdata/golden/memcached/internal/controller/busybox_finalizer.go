package controller

// This file keeps a Busybox in the API until cleanUp, which you write, is done.
//
// If you need no finalizer, delete this file and busybox_finalizer_test.go, and remove the
// call to finalize from Reconcile. Then remove the finalizer from existing objects.

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
)

// busyboxFinalizer keeps a deleted Busybox in the API until cleanUp succeeds.
const busyboxFinalizer = "cache.example.org/busybox"

// +kubebuilder:rbac:groups=cache.example.org,namespace=memcached-system,resources=busyboxes,verbs=patch

// cleanUp deletes what this controller created for busybox outside the cluster.
// (Kubernetes deletes the objects that busybox owns in the cluster.) It runs again
// until it returns neither an error nor RequeueAfter. Something that is deleted already
// is not an error. When cleanUp is done, Kubernetes deletes busybox.
func (r *BusyboxReconciler) cleanUp(ctx context.Context, busybox *cachev1alpha1.Busybox) (ctrl.Result, error) {
	// Your code goes here.
	r.Recorder.Eventf(busybox, nil, corev1.EventTypeNormal, "Deleting", "Delete", "The Busybox is being deleted")
	return ctrl.Result{}, nil
}

// finalize adds the finalizer to busybox before the controller creates anything that
// must be cleaned up. When busybox is being deleted, it calls clean, and removes the
// finalizer after clean succeeds.
//
// Both are merge patches, which replace the whole list of finalizers. With the
// optimistic lock they fail if another client changed the object, and Reconcile runs
// again.
func (r *BusyboxReconciler) finalize(
	ctx context.Context, busybox *cachev1alpha1.Busybox,
	clean func(context.Context, *cachev1alpha1.Busybox) (ctrl.Result, error),
) (ctrl.Result, error) {
	if busybox.DeletionTimestamp.IsZero() {
		patch := client.MergeFromWithOptions(busybox.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if !controllerutil.AddFinalizer(busybox, busyboxFinalizer) {
			return ctrl.Result{}, nil
		}
		// Not found is an error here: the cache is outdated, and nothing would clean
		// up what is created for a deleted object.
		return ctrl.Result{}, r.Patch(ctx, busybox, patch)
	}
	if !controllerutil.ContainsFinalizer(busybox, busyboxFinalizer) {
		return ctrl.Result{}, nil
	}
	if result, err := clean(ctx, busybox); err != nil || !result.IsZero() {
		return result, err
	}
	patch := client.MergeFromWithOptions(busybox.DeepCopy(), client.MergeFromWithOptimisticLock{})
	controllerutil.RemoveFinalizer(busybox, busyboxFinalizer)
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, busybox, patch))
}
