package sea

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	seav1beta1 "example.org/fleet/api/sea/v1beta1"
)

// nfsFinalizer keeps a deleted NFS in the API until cleanUp is done.
const nfsFinalizer = "sea.example.org/nfs"

// +kubebuilder:rbac:groups=sea.example.org,resources=nfs,verbs=patch

// cleanUp removes what this controller made for nfs where Kubernetes does not
// see it. (What nfs owns in the cluster goes by itself.) It is called again as
// long as it returns an error or, for what takes its time, RequeueAfter; so things
// that are gone already are no error. Afterwards nfs goes.
func (r *NFSReconciler) cleanUp(ctx context.Context, nfs *seav1beta1.NFS) (ctrl.Result, error) {
	// Your code goes here.
	return ctrl.Result{}, nil
}

// finalize gives nfs the finalizer, before anything is made that must be cleaned
// up. Once nfs is being deleted, it has it cleaned up by clean, and only when that
// is done takes the finalizer off, which lets nfs go.
//
// Both are merge patches, which replace the whole list of finalizers: the lock makes
// them fail, and Reconcile run again, when another writer came first.
func (r *NFSReconciler) finalize(
	ctx context.Context, nfs *seav1beta1.NFS,
	clean func(context.Context, *seav1beta1.NFS) (ctrl.Result, error),
) (ctrl.Result, error) {
	if nfs.DeletionTimestamp.IsZero() {
		patch := client.MergeFromWithOptions(nfs.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if !controllerutil.AddFinalizer(nfs, nfsFinalizer) {
			return ctrl.Result{}, nil
		}
		// Not found is an error here: the cache is behind, and what would be made
		// for an object that is gone, nobody would clean up.
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
