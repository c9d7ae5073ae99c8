package ship

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	shipv1 "example.org/fleet/api/ship/v1"
)

// FrigateReconciler reconciles Frigate objects.
type FrigateReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=frigates,verbs=get;list;watch
// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=frigates/status,verbs=update;patch

// Reconcile runs when the named Frigate may have changed. It may run at any time
// and more than once. If it returns an error, it runs again with increasing delay.
func (r *FrigateReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	frigate := &shipv1.Frigate{}
	if err := r.Get(ctx, req.NamespacedName, frigate); err != nil {
		// Not found: the object was deleted after the event. There is nothing to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !frigate.DeletionTimestamp.IsZero() {
		// The object is being deleted: the owners of its finalizers clean up, and
		// Kubernetes deletes the objects that it owns.
		return ctrl.Result{}, nil
	}
	return r.reportReady(ctx, frigate, r.reconcileSpec)
}

// reconcileSpec makes the actual state match frigate.Spec and records what it
// observes in frigate.Status, which reportReady writes afterwards. If the actual
// state matches already, it must not change anything.
func (r *FrigateReconciler) reconcileSpec(ctx context.Context, frigate *shipv1.Frigate) (ctrl.Result, error) {
	if err := r.ensureConfigMap(ctx, frigate); err != nil {
		return ctrl.Result{}, err
	}

	// Your code goes here. Return an error to try again, or RequeueAfter to look again
	// later. The condition Ready shows the text of an error, which must not contain
	// secrets. frigate_status.go describes how to report other results.

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller for Frigate objects with mgr. Changes of the
// spec, the labels or the annotations, and a deletion, trigger Reconcile. Changes of
// the status and cache resyncs do not: return RequeueAfter to check external state
// periodically.
func (r *FrigateReconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&shipv1.Frigate{}, builder.WithPredicates(changed)).
		Owns(&corev1.ConfigMap{}).
		Named("ship-frigate").
		Complete(r)
}
