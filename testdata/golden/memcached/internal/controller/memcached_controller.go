package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
)

// MemcachedReconciler reconciles Memcached objects.
type MemcachedReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder // nil: the manager's recorder
}

// +kubebuilder:rbac:groups=cache.example.org,namespace=memcached-system,resources=memcacheds,verbs=get;list;watch
// +kubebuilder:rbac:groups=cache.example.org,namespace=memcached-system,resources=memcacheds/status,verbs=update;patch

// Reconcile runs when the named Memcached may have changed. It may run at any time
// and more than once. If it returns an error, it runs again with increasing delay.
func (r *MemcachedReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	memcached := &cachev1alpha1.Memcached{}
	if err := r.Get(ctx, req.NamespacedName, memcached); err != nil {
		// Not found: the object was deleted after the event. There is nothing to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if result, err := r.finalize(ctx, memcached, func(ctx context.Context, memcached *cachev1alpha1.Memcached) (ctrl.Result, error) {
		return r.reportReady(ctx, memcached, r.cleanUp)
	}); err != nil || !result.IsZero() {
		return result, err
	}
	if !memcached.DeletionTimestamp.IsZero() {
		// The object is being deleted: the owners of its finalizers clean up, and
		// Kubernetes deletes the objects that it owns.
		return ctrl.Result{}, nil
	}
	return r.reportReady(ctx, memcached, r.reconcileSpec)
}

// reconcileSpec makes the actual state match memcached.Spec and records what it
// observes in memcached.Status, which reportReady writes afterwards. If the actual
// state matches already, it must not change anything.
func (r *MemcachedReconciler) reconcileSpec(ctx context.Context, memcached *cachev1alpha1.Memcached) (ctrl.Result, error) {
	if err := r.ensureDeployment(ctx, memcached); err != nil {
		return ctrl.Result{}, err
	}

	// Your code goes here. Return an error to try again, or RequeueAfter to look again
	// later. The condition Available shows the text of an error, which must not contain
	// secrets. memcached_status.go describes how to report other results.

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller for Memcached objects with mgr. Changes of the
// spec, the labels or the annotations, and a deletion, trigger Reconcile. Changes of
// the status and cache resyncs do not: return RequeueAfter to check external state
// periodically.
func (r *MemcachedReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder("memcached-controller")
	}
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&cachev1alpha1.Memcached{}, builder.WithPredicates(changed)).
		Owns(&appsv1.Deployment{}).
		Named("memcached").
		Complete(r)
}
