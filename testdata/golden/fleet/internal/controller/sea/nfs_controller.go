package sea

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	seav1beta1 "example.org/fleet/api/sea/v1beta1"
)

// NFSReconciler reconciles NFS objects.
type NFSReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=sea.example.org,resources=nfs,verbs=get;list;watch
// +kubebuilder:rbac:groups=sea.example.org,resources=nfs/status,verbs=update;patch

// Reconcile runs when the named NFS may have changed. It may run at any time
// and more than once. If it returns an error, it runs again with increasing delay.
func (r *NFSReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	nfs := &seav1beta1.NFS{}
	if err := r.Get(ctx, req.NamespacedName, nfs); err != nil {
		// Not found: the object was deleted after the event. There is nothing to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if result, err := r.finalize(ctx, nfs, func(ctx context.Context, nfs *seav1beta1.NFS) (ctrl.Result, error) {
		return r.reportReady(ctx, nfs, r.cleanUp)
	}); err != nil || !result.IsZero() {
		return result, err
	}
	if !nfs.DeletionTimestamp.IsZero() {
		// The object is being deleted: the owners of its finalizers clean up, and
		// Kubernetes deletes the objects that it owns.
		return ctrl.Result{}, nil
	}
	return r.reportReady(ctx, nfs, r.reconcileSpec)
}

// reconcileSpec makes the actual state match nfs.Spec and records what it
// observes in nfs.Status, which reportReady writes afterwards. If the actual
// state matches already, it must not change anything.
func (r *NFSReconciler) reconcileSpec(ctx context.Context, nfs *seav1beta1.NFS) (ctrl.Result, error) {
	// Your code goes here. Return an error to try again, or RequeueAfter to look again
	// later. The condition Ready shows the text of an error, which must not contain
	// secrets. nfs_status.go describes how to report other results.

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller for NFS objects with mgr. Changes of the
// spec, the labels or the annotations, and a deletion, trigger Reconcile. Changes of
// the status and cache resyncs do not: return RequeueAfter to check external state
// periodically.
func (r *NFSReconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&seav1beta1.NFS{}, builder.WithPredicates(changed)).
		Named("sea-nfs").
		Complete(r)
}
