package ship

// This file reports in the condition Ready whether a Frigate is reconciled.
//
// If you replace FrigateStatus with your own fields, delete this file and
// frigate_status_test.go. In Reconcile, call reconcileSpec directly. If the controller
// has a finalizer, also call cleanUp directly:
//
//	return r.reconcileSpec(ctx, frigate)

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	shipv1 "example.org/fleet/api/ship/v1"
)

// reportReady calls reconcile for frigate and records the result in the condition
// Ready. An error makes the condition False and becomes its message.
//
// reconcile may set the condition to False itself, with a reason and a message: with an
// error, to hide the text of the error, or without one, to report what it waits for.
//
// reportReady writes the status if it changed. An object that is being deleted is never
// ready.
func (r *FrigateReconciler) reportReady(
	ctx context.Context, frigate *shipv1.Frigate,
	reconcile func(context.Context, *shipv1.Frigate) (ctrl.Result, error),
) (ctrl.Result, error) {
	before := frigate.DeepCopy()
	ready := metav1.Condition{
		Type:    "Ready",
		Status:  metav1.ConditionTrue,
		Reason:  "Reconciled",
		Message: "the object matches its spec",
	}
	if !frigate.DeletionTimestamp.IsZero() {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "Deleting", "the object is being deleted"
	}
	meta.SetStatusCondition(&frigate.Status.Conditions, ready)
	result, err := reconcile(ctx, frigate)
	if apierrors.IsConflict(err) {
		return ctrl.Result{}, err // another client changed the object: the next attempt reads its version
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
			reported.LastTransitionTime = was.LastTransitionTime // keep the time of the last real change
		}
	}
	if !equality.Semantic.DeepEqual(before.Status, frigate.Status) {
		if unwritten := patchStatus(ctx, r.Client, before, frigate); unwritten != nil {
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
