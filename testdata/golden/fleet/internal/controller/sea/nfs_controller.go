package sea

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

	seav1beta1 "example.org/fleet/api/sea/v1beta1"
)

// NFSReconciler reconciles NFS objects.
type NFSReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=sea.example.org,resources=nfs,verbs=get;list;watch
// +kubebuilder:rbac:groups=sea.example.org,resources=nfs/status,verbs=patch

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
	// Your code goes here. Return an error to try again. The condition Ready shows
	// its text, which must not contain secrets, unless you set the condition to False
	// yourself, with a reason and a message. Waiting is not an error: set the condition
	// Ready to False, say what you wait for, and return RequeueAfter.

	return ctrl.Result{}, nil
}

// reportReady calls reconcile for nfs and records the result in the condition
// Ready, unless reconcile sets that condition itself. It writes the status if it
// changed. An object that is being deleted is never ready.
func (r *NFSReconciler) reportReady(
	ctx context.Context, nfs *seav1beta1.NFS,
	reconcile func(context.Context, *seav1beta1.NFS) (ctrl.Result, error),
) (ctrl.Result, error) {
	before := nfs.DeepCopy()
	ready := metav1.Condition{
		Type:    "Ready",
		Status:  metav1.ConditionTrue,
		Reason:  "Reconciled",
		Message: "the object matches its spec",
	}
	if !nfs.DeletionTimestamp.IsZero() {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "Deleting", "the object is being deleted"
	}
	meta.SetStatusCondition(&nfs.Status.Conditions, ready)
	result, err := reconcile(ctx, nfs)
	if apierrors.IsConflict(err) {
		return ctrl.Result{}, err // another client changed the object: the next attempt reads its version
	}
	reported := meta.FindStatusCondition(nfs.Status.Conditions, ready.Type)
	if err != nil && (reported == nil || reported.Status == metav1.ConditionTrue || reported.Reason == ready.Reason) {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "ReconcileFailed", err.Error()
		meta.SetStatusCondition(&nfs.Status.Conditions, ready)
		reported = meta.FindStatusCondition(nfs.Status.Conditions, ready.Type)
	}
	if reported != nil {
		reported.ObservedGeneration = before.Generation
		was := meta.FindStatusCondition(before.Status.Conditions, ready.Type)
		if was != nil && was.Status == reported.Status {
			reported.LastTransitionTime = was.LastTransitionTime // keep the time of the last real change
		}
	}
	if !equality.Semantic.DeepEqual(before.Status, nfs.Status) {
		if unwritten := patchStatus(ctx, r.Client, before, nfs); unwritten != nil {
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
