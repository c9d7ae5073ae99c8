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

// BusyboxReconciler reconciles Busybox objects.
type BusyboxReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder // nil: the manager's recorder
}

// +kubebuilder:rbac:groups=cache.example.org,namespace=memcached-system,resources=busyboxes,verbs=get;list;watch
// +kubebuilder:rbac:groups=cache.example.org,namespace=memcached-system,resources=busyboxes/status,verbs=update;patch

// Reconcile runs when the named Busybox may have changed. It may run at any time
// and more than once. If it returns an error, it runs again with increasing delay.
func (r *BusyboxReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	busybox := &cachev1alpha1.Busybox{}
	if err := r.Get(ctx, req.NamespacedName, busybox); err != nil {
		// Not found: the object was deleted after the event. There is nothing to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if result, err := r.finalize(ctx, busybox, func(ctx context.Context, busybox *cachev1alpha1.Busybox) (ctrl.Result, error) {
		return r.reportReady(ctx, busybox, r.cleanUp)
	}); err != nil || !result.IsZero() {
		return result, err
	}
	if !busybox.DeletionTimestamp.IsZero() {
		// The object is being deleted: the owners of its finalizers clean up, and
		// Kubernetes deletes the objects that it owns.
		return ctrl.Result{}, nil
	}
	return r.reportReady(ctx, busybox, r.reconcileSpec)
}

// reconcileSpec makes the actual state match busybox.Spec and records what it
// observes in busybox.Status, which reportReady writes afterwards. If the actual
// state matches already, it must not change anything.
func (r *BusyboxReconciler) reconcileSpec(ctx context.Context, busybox *cachev1alpha1.Busybox) (ctrl.Result, error) {
	if err := r.ensureDeployment(ctx, busybox); err != nil {
		return ctrl.Result{}, err
	}

	// Your code goes here. Return an error to try again, or RequeueAfter to look again
	// later. The condition Available shows the text of an error, which must not contain
	// secrets. busybox_status.go describes how to report other results.

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller for Busybox objects with mgr. Changes of the
// spec, the labels or the annotations, and a deletion, trigger Reconcile. Changes of
// the status and cache resyncs do not: return RequeueAfter to check external state
// periodically.
func (r *BusyboxReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder("busybox-controller")
	}
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&cachev1alpha1.Busybox{}, builder.WithPredicates(changed)).
		Owns(&appsv1.Deployment{}).
		Named("busybox").
		Complete(r)
}
