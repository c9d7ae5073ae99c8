package ship

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=types/status,verbs=patch

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
	// Your code goes here. Return an error to try again. The condition Ready shows
	// its text, which must not contain secrets, unless you set the condition to False
	// yourself, with a reason and a message. Waiting is not an error: set the condition
	// Ready to False, say what you wait for, and return RequeueAfter.

	return ctrl.Result{}, nil
}

// reportReady calls reconcile for typeObj and records the result in the condition
// Ready, unless reconcile sets that condition itself. It writes the status if it
// changed. An object that is being deleted is never ready.
func (r *TypeReconciler) reportReady(
	ctx context.Context, typeObj *shipv1.Type,
	reconcile func(context.Context, *shipv1.Type) (ctrl.Result, error),
) (ctrl.Result, error) {
	before := typeObj.DeepCopy()
	ready := metav1.Condition{
		Type:    "Ready",
		Status:  metav1.ConditionTrue,
		Reason:  "Reconciled",
		Message: "the object matches its spec",
	}
	if !typeObj.DeletionTimestamp.IsZero() {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "Deleting", "the object is being deleted"
	}
	meta.SetStatusCondition(&typeObj.Status.Conditions, ready)
	result, err := reconcile(ctx, typeObj)
	if apierrors.IsConflict(err) {
		return ctrl.Result{}, err // another client changed the object: the next attempt reads its version
	}
	reported := meta.FindStatusCondition(typeObj.Status.Conditions, ready.Type)
	if err != nil && (reported == nil || reported.Status == metav1.ConditionTrue || reported.Reason == ready.Reason) {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "ReconcileFailed", err.Error()
		meta.SetStatusCondition(&typeObj.Status.Conditions, ready)
		reported = meta.FindStatusCondition(typeObj.Status.Conditions, ready.Type)
	}
	if reported != nil {
		reported.ObservedGeneration = before.Generation
		was := meta.FindStatusCondition(before.Status.Conditions, ready.Type)
		if was != nil && was.Status == reported.Status {
			reported.LastTransitionTime = was.LastTransitionTime // keep the time of the last real change
		}
	}
	if !equality.Semantic.DeepEqual(before.Status, typeObj.Status) {
		if unwritten := patchStatus(ctx, r.Client, before, typeObj); unwritten != nil {
			if err != nil {
				// Only the text: a terminal error would also stop the attempts to
				// write the status.
				unwritten = errors.Join(errors.New(err.Error()), unwritten)
			}
			return ctrl.Result{}, unwritten
		}
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return result, nil
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
