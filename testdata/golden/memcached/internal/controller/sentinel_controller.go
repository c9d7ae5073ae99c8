package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
)

// SentinelReconciler reconciles Sentinel objects.
type SentinelReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=cache.example.org,namespace=memcached-system,resources=sentinels,verbs=get;list;watch
// +kubebuilder:rbac:groups=cache.example.org,namespace=memcached-system,resources=sentinels/status,verbs=update;patch

// Reconcile runs when the named Sentinel may have changed. It may run at any time
// and more than once. If it returns an error, it runs again with increasing delay.
func (r *SentinelReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	sentinel := &cachev1alpha1.Sentinel{}
	if err := r.Get(ctx, req.NamespacedName, sentinel); err != nil {
		// Not found: the object was deleted after the event. There is nothing to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if result, err := r.finalize(ctx, sentinel, func(ctx context.Context, sentinel *cachev1alpha1.Sentinel) (ctrl.Result, error) {
		return r.reportReady(ctx, sentinel, r.cleanUp)
	}); err != nil || !result.IsZero() {
		return result, err
	}
	if !sentinel.DeletionTimestamp.IsZero() {
		// The object is being deleted: the owners of its finalizers clean up, and
		// Kubernetes deletes the objects that it owns.
		return ctrl.Result{}, nil
	}
	return r.reportReady(ctx, sentinel, r.reconcileSpec)
}

// reconcileSpec makes the actual state match sentinel.Spec and records what it
// observes in sentinel.Status, which reportReady writes afterwards. If the actual
// state matches already, it must not change anything.
func (r *SentinelReconciler) reconcileSpec(ctx context.Context, sentinel *cachev1alpha1.Sentinel) (ctrl.Result, error) {
	// Your code goes here. Return an error to try again, or RequeueAfter to look again
	// later. The condition Ready shows the text of an error, which must not contain
	// secrets. sentinel_status.go describes how to report other results.

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller for Sentinel objects with mgr. Changes of the
// spec, the labels or the annotations, and a deletion, trigger Reconcile. Changes of
// the status and cache resyncs do not: return RequeueAfter to check external state
// periodically.
func (r *SentinelReconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&cachev1alpha1.Sentinel{}, builder.WithPredicates(changed)).
		Named("sentinel").
		Complete(r)
}
