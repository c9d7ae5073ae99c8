package controller

// This file keeps a Sentinel in the API until cleanUp, which you write, is done.
//
// If you need no finalizer, delete this file and sentinel_finalizer_test.go, and remove the
// call to finalize from Reconcile. Then remove the finalizer from existing objects.

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
)

// sentinelFinalizer keeps a deleted Sentinel in the API until cleanUp succeeds.
const sentinelFinalizer = "cache.example.org/sentinel"

// +kubebuilder:rbac:groups=cache.example.org,namespace=memcached-system,resources=sentinels,verbs=patch

// cleanUp deletes what this controller created for sentinel outside the cluster.
// (Kubernetes deletes the objects that sentinel owns in the cluster.) It runs again
// until it returns neither an error nor RequeueAfter. Something that is deleted already
// is not an error. When cleanUp is done, Kubernetes deletes sentinel.
func (r *SentinelReconciler) cleanUp(ctx context.Context, sentinel *cachev1alpha1.Sentinel) (ctrl.Result, error) {
	// Your code goes here.
	return ctrl.Result{}, nil
}

// finalize adds the finalizer to sentinel before the controller creates anything that
// must be cleaned up. When sentinel is being deleted, it calls clean, and removes the
// finalizer after clean succeeds.
//
// Both are merge patches, which replace the whole list of finalizers. With the
// optimistic lock they fail if another client changed the object, and Reconcile runs
// again.
func (r *SentinelReconciler) finalize(
	ctx context.Context, sentinel *cachev1alpha1.Sentinel,
	clean func(context.Context, *cachev1alpha1.Sentinel) (ctrl.Result, error),
) (ctrl.Result, error) {
	if sentinel.DeletionTimestamp.IsZero() {
		patch := client.MergeFromWithOptions(sentinel.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if !controllerutil.AddFinalizer(sentinel, sentinelFinalizer) {
			return ctrl.Result{}, nil
		}
		// Not found is an error here: the cache is outdated, and nothing would clean
		// up what is created for a deleted object.
		return ctrl.Result{}, r.Patch(ctx, sentinel, patch)
	}
	if !controllerutil.ContainsFinalizer(sentinel, sentinelFinalizer) {
		return ctrl.Result{}, nil
	}
	if result, err := clean(ctx, sentinel); err != nil || !result.IsZero() {
		return result, err
	}
	patch := client.MergeFromWithOptions(sentinel.DeepCopy(), client.MergeFromWithOptimisticLock{})
	controllerutil.RemoveFinalizer(sentinel, sentinelFinalizer)
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, sentinel, patch))
}
