package sea

// This file reports in the condition Ready whether an NFS is reconciled.
//
// If you replace NFSStatus with your own fields, delete this file and
// nfs_status_test.go. In Reconcile, call reconcileSpec directly. If the controller
// has a finalizer, also call cleanUp directly:
//
//	return r.reconcileSpec(ctx, nfs)

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	seav1beta1 "example.org/fleet/api/sea/v1beta1"
)

// reportReady calls reconcile for nfs and records the result in the condition
// Ready. An error makes the condition False and becomes its message.
//
// reconcile may set the condition to False itself, with a reason and a message: with an
// error, to hide the text of the error, or without one, to report what it waits for.
//
// reportReady writes the status if it changed. An object that is being deleted is never
// ready.
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
