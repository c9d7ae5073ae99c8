package ship

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	shipv1 "example.org/fleet/api/ship/v1"
)

// TypeReconciler reconciles Type objects.
type TypeReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=types,verbs=get;list;watch
// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=types/status,verbs=update;patch

// Reconcile runs when the named Type may have changed. It may run at any time
// and more than once. If it returns an error, it runs again with increasing delay.
func (r *TypeReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	typeObj := &shipv1.Type{}
	if err := r.Get(ctx, req.NamespacedName, typeObj); err != nil {
		// Not found: the object was deleted after the event. There is nothing to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !typeObj.DeletionTimestamp.IsZero() {
		// The object is being deleted: the owners of its finalizers clean up, and
		// Kubernetes deletes the objects that it owns.
		return ctrl.Result{}, nil
	}
	return r.reportReady(ctx, typeObj, r.reconcileSpec)
}

// reconcileSpec makes the actual state match typeObj.Spec and records what it
// observes in typeObj.Status, which reportReady writes afterwards. If the actual
// state matches already, it must not change anything.
func (r *TypeReconciler) reconcileSpec(ctx context.Context, typeObj *shipv1.Type) (ctrl.Result, error) {
	// Your code goes here. Return an error to try again, or RequeueAfter to look again
	// later. The condition Ready shows the text of an error, which must not contain
	// secrets. type_status.go describes how to report other results.

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller for Type objects with mgr. Changes of the
// spec, the labels or the annotations, and a deletion, trigger Reconcile. Changes of
// the status and cache resyncs do not: return RequeueAfter to check external state
// periodically.
func (r *TypeReconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&shipv1.Type{}, builder.WithPredicates(changed)).
		Named("ship-type").
		Complete(r)
}
