package ship

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
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

// FrigateReconciler brings the world to what Frigate objects ask for.
type FrigateReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=frigates,verbs=get;list;watch
// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=frigates/status,verbs=patch

// Reconcile is called when the named Frigate may have changed, at any time and
// any number of times, and again, later and later, as long as it returns an error.
func (r *FrigateReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	frigate := &shipv1.Frigate{}
	if err := r.Get(ctx, req.NamespacedName, frigate); err != nil {
		// Not found: it was deleted after the event, and nothing is left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !frigate.DeletionTimestamp.IsZero() {
		// It is on its way out: whoever set a finalizer cleans up, and what it
		// owns is collected by Kubernetes.
		return ctrl.Result{}, nil
	}
	return r.reportReady(ctx, frigate, r.reconcileSpec)
}

// reconcileSpec brings the world to what frigate.Spec asks for, and notes in
// frigate.Status what it saw, which is written when it returns. It compares what
// is with what should be: a call that finds nothing to do must change nothing.
func (r *FrigateReconciler) reconcileSpec(ctx context.Context, frigate *shipv1.Frigate) (ctrl.Result, error) {
	if err := r.ensureConfigMap(ctx, frigate); err != nil {
		return ctrl.Result{}, err
	}

	// Your code goes here. Return errors that may pass: the condition Ready shows
	// their text, so it must hold no secrets, unless you set it to False yourself, with
	// a reason and a message. What takes its time is no error: return RequeueAfter, and
	// set the condition Ready to False with what is awaited.

	return ctrl.Result{}, nil
}

// reportReady calls reconcile for frigate, records in the condition Ready whether it
// succeeded, unless reconcile itself set it, and writes the status as far as it
// differs from what it was before. What is being deleted is never ready.
func (r *FrigateReconciler) reportReady(
	ctx context.Context, frigate *shipv1.Frigate,
	reconcile func(context.Context, *shipv1.Frigate) (ctrl.Result, error),
) (ctrl.Result, error) {
	before := frigate.DeepCopy()
	ready := metav1.Condition{
		Type:    "Ready",
		Status:  metav1.ConditionTrue,
		Reason:  "Reconciled",
		Message: "the object is as its spec asks",
	}
	if !frigate.DeletionTimestamp.IsZero() {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "Deleting", "the object is being deleted"
	}
	meta.SetStatusCondition(&frigate.Status.Conditions, ready)
	result, err := reconcile(ctx, frigate)
	if apierrors.IsConflict(err) {
		return ctrl.Result{}, err // another writer came first: the next try sees what it wrote
	}
	reported := meta.FindStatusCondition(frigate.Status.Conditions, ready.Type)
	if err != nil && (reported == nil || reported.Status == metav1.ConditionTrue || reported.Reason == ready.Reason) {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "ReconcileFailed", err.Error()
		meta.SetStatusCondition(&frigate.Status.Conditions, ready)
		reported = meta.FindStatusCondition(frigate.Status.Conditions, ready.Type)
	}
	if reported != nil {
		reported.ObservedGeneration = before.Generation
		was := meta.FindStatusCondition(before.Status.Conditions, ready.Type)
		if was != nil && was.Status == reported.Status {
			reported.LastTransitionTime = was.LastTransitionTime // whatever it was in between
		}
	}
	if !equality.Semantic.DeepEqual(before.Status, frigate.Status) {
		if unwritten := patchStatus(ctx, r.Client, before, frigate); unwritten != nil {
			if err != nil {
				// Its text alone: an error that ends the tries would also end those
				// to write the status.
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

// SetupWithManager starts the controller with mgr, for every Frigate it sees. Reconcile is
// called when the generation changes, which counts the changes of the spec and the
// deletion, and when labels or annotations do. Neither what is written to the
// status calls it, nor the cache when it syncs again: return RequeueAfter to look
// at the world outside from time to time.
func (r *FrigateReconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&shipv1.Frigate{}, builder.WithPredicates(changed)).
		Owns(&corev1.ConfigMap{}).
		Named("ship-frigate").
		Complete(r)
}
