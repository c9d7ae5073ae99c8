package controller

// This file keeps a Memcached in the API until cleanUp, which you write, is done.
//
// If you need no finalizer, delete this file and memcached_finalizer_test.go, and remove the
// call to finalize from Reconcile. Then remove the finalizer from existing objects.

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
)

// memcachedFinalizer keeps a deleted Memcached in the API until cleanUp succeeds.
const memcachedFinalizer = "cache.example.org/memcached"

// +kubebuilder:rbac:groups=cache.example.org,namespace=memcached-system,resources=memcacheds,verbs=patch

// cleanUp deletes what this controller created for memcached outside the cluster.
// (Kubernetes deletes the objects that memcached owns in the cluster.) It runs again
// until it returns neither an error nor RequeueAfter. Something that is deleted already
// is not an error. When cleanUp is done, Kubernetes deletes memcached.
func (r *MemcachedReconciler) cleanUp(ctx context.Context, memcached *cachev1alpha1.Memcached) (ctrl.Result, error) {
	// Your code goes here.
	r.Recorder.Eventf(memcached, nil, corev1.EventTypeNormal, "Deleting", "Delete", "The Memcached is being deleted")
	return ctrl.Result{}, nil
}

// finalize adds the finalizer to memcached before the controller creates anything that
// must be cleaned up. When memcached is being deleted, it calls clean, and removes the
// finalizer after clean succeeds.
//
// Both are merge patches, which replace the whole list of finalizers. With the
// optimistic lock they fail if another client changed the object, and Reconcile runs
// again.
func (r *MemcachedReconciler) finalize(
	ctx context.Context, memcached *cachev1alpha1.Memcached,
	clean func(context.Context, *cachev1alpha1.Memcached) (ctrl.Result, error),
) (ctrl.Result, error) {
	if memcached.DeletionTimestamp.IsZero() {
		patch := client.MergeFromWithOptions(memcached.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if !controllerutil.AddFinalizer(memcached, memcachedFinalizer) {
			return ctrl.Result{}, nil
		}
		// Not found is an error here: the cache is outdated, and nothing would clean
		// up what is created for a deleted object.
		return ctrl.Result{}, r.Patch(ctx, memcached, patch)
	}
	if !controllerutil.ContainsFinalizer(memcached, memcachedFinalizer) {
		return ctrl.Result{}, nil
	}
	if result, err := clean(ctx, memcached); err != nil || !result.IsZero() {
		return result, err
	}
	patch := client.MergeFromWithOptions(memcached.DeepCopy(), client.MergeFromWithOptimisticLock{})
	controllerutil.RemoveFinalizer(memcached, memcachedFinalizer)
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, memcached, patch))
}
