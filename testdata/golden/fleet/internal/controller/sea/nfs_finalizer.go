package sea

// This file keeps an NFS in the API until cleanUp, which you write, is done.
//
// If you need no finalizer, delete this file and nfs_finalizer_test.go, and remove the
// call to finalize from Reconcile. Then remove the finalizer from existing objects.

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	seav1beta1 "example.org/fleet/api/sea/v1beta1"
)

// nfsFinalizer keeps a deleted NFS in the API until cleanUp succeeds.
const nfsFinalizer = "sea.example.org/nfs"

// +kubebuilder:rbac:groups=sea.example.org,resources=nfs,verbs=patch

// cleanUp deletes what this controller created for nfs outside the cluster.
// (Kubernetes deletes the objects that nfs owns in the cluster.) It runs again
// until it returns neither an error nor RequeueAfter. Something that is deleted already
// is not an error. When cleanUp is done, Kubernetes deletes nfs.
func (r *NFSReconciler) cleanUp(ctx context.Context, nfs *seav1beta1.NFS) (ctrl.Result, error) {
	// Your code goes here.
	return ctrl.Result{}, nil
}

// finalize adds the finalizer to nfs before the controller creates anything that
// must be cleaned up. When nfs is being deleted, it calls clean, and removes the
// finalizer after clean succeeds.
//
// Both are merge patches, which replace the whole list of finalizers. With the
// optimistic lock they fail if another client changed the object, and Reconcile runs
// again.
func (r *NFSReconciler) finalize(
	ctx context.Context, nfs *seav1beta1.NFS,
	clean func(context.Context, *seav1beta1.NFS) (ctrl.Result, error),
) (ctrl.Result, error) {
	if nfs.DeletionTimestamp.IsZero() {
		patch := client.MergeFromWithOptions(nfs.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if !controllerutil.AddFinalizer(nfs, nfsFinalizer) {
			return ctrl.Result{}, nil
		}
		// Not found is an error here: the cache is outdated, and nothing would clean
		// up what is created for a deleted object.
		return ctrl.Result{}, r.Patch(ctx, nfs, patch)
	}
	if !controllerutil.ContainsFinalizer(nfs, nfsFinalizer) {
		return ctrl.Result{}, nil
	}
	if result, err := clean(ctx, nfs); err != nil || !result.IsZero() {
		return result, err
	}
	patch := client.MergeFromWithOptions(nfs.DeepCopy(), client.MergeFromWithOptimisticLock{})
	controllerutil.RemoveFinalizer(nfs, nfsFinalizer)
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, nfs, patch))
}
