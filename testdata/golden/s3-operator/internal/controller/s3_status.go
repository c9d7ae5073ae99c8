/*
Copyright 2026.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package controller

// This file reports in the condition Ready whether an S3 is reconciled.
//
// If you replace S3Status with your own fields, delete this file and
// s3_status_test.go. In Reconcile, call reconcileSpec directly. If the controller
// has a finalizer, also call cleanUp directly:
//
//	return r.reconcileSpec(ctx, s3)

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	systeknov1 "github.com/systek/s3-operator/api/v1"
)

// reportReady calls reconcile for s3 and records the result in the condition
// Ready. An error makes the condition False and becomes its message.
//
// reconcile may set the condition to False itself, with a reason and a message: with an
// error, to hide the text of the error, or without one, to report what it waits for.
//
// reportReady writes the status if it changed. An object that is being deleted is never
// ready.
func (r *S3Reconciler) reportReady(
	ctx context.Context, s3 *systeknov1.S3,
	reconcile func(context.Context, *systeknov1.S3) (ctrl.Result, error),
) (ctrl.Result, error) {
	before := s3.DeepCopy()
	ready := metav1.Condition{
		Type:    "Ready",
		Status:  metav1.ConditionTrue,
		Reason:  "Reconciled",
		Message: "the object matches its spec",
	}
	if !s3.DeletionTimestamp.IsZero() {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "Deleting", "the object is being deleted"
	}
	meta.SetStatusCondition(&s3.Status.Conditions, ready)
	result, err := reconcile(ctx, s3)
	if apierrors.IsConflict(err) {
		return ctrl.Result{}, err // another client changed the object: the next attempt reads its version
	}
	reported := meta.FindStatusCondition(s3.Status.Conditions, ready.Type)
	if err != nil && (reported == nil || reported.Status == metav1.ConditionTrue || reported.Reason == ready.Reason) {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "ReconcileFailed", err.Error()
		meta.SetStatusCondition(&s3.Status.Conditions, ready)
		reported = meta.FindStatusCondition(s3.Status.Conditions, ready.Type)
	}
	if reported != nil {
		reported.ObservedGeneration = before.Generation
		was := meta.FindStatusCondition(before.Status.Conditions, ready.Type)
		if was != nil && was.Status == reported.Status {
			reported.LastTransitionTime = was.LastTransitionTime // keep the time of the last real change
		}
	}
	if !equality.Semantic.DeepEqual(before.Status, s3.Status) {
		if unwritten := patchStatus(ctx, r.Client, before, s3); unwritten != nil {
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
