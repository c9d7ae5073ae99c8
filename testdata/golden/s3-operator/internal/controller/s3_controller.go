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

	systeknov1 "github.com/systek/s3-operator/api/v1"
)

// S3Reconciler brings the world to what S3 objects ask for.
type S3Reconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=systek.no,resources=s3s,verbs=get;list;watch
// +kubebuilder:rbac:groups=systek.no,resources=s3s/status,verbs=patch

// Reconcile is called when the named S3 may have changed, at any time and
// any number of times, and again, later and later, as long as it returns an error.
func (r *S3Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	s3 := &systeknov1.S3{}
	if err := r.Get(ctx, req.NamespacedName, s3); err != nil {
		// Not found: it was deleted after the event, and nothing is left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !s3.DeletionTimestamp.IsZero() {
		// It is on its way out: whoever set a finalizer cleans up, and what it
		// owns is collected by Kubernetes.
		return ctrl.Result{}, nil
	}
	return r.reportReady(ctx, s3, r.reconcileSpec)
}

// reconcileSpec brings the world to what s3.Spec asks for, and notes in
// s3.Status what it saw, which is written when it returns. It compares what
// is with what should be: a call that finds nothing to do must change nothing.
func (r *S3Reconciler) reconcileSpec(ctx context.Context, s3 *systeknov1.S3) (ctrl.Result, error) {
	// Your code goes here. Return errors that may pass: the condition Ready shows
	// their text, so it must hold no secrets, unless you set it to False yourself, with
	// a reason and a message. What takes its time is no error: return RequeueAfter, and
	// set the condition Ready to False with what is awaited.

	return ctrl.Result{}, nil
}

// reportReady calls reconcile for s3, records in the condition Ready whether it
// succeeded, unless reconcile itself set it, and writes the status as far as it
// differs from what it was before. What is being deleted is never ready.
func (r *S3Reconciler) reportReady(
	ctx context.Context, s3 *systeknov1.S3,
	reconcile func(context.Context, *systeknov1.S3) (ctrl.Result, error),
) (ctrl.Result, error) {
	before := s3.DeepCopy()
	ready := metav1.Condition{
		Type:    "Ready",
		Status:  metav1.ConditionTrue,
		Reason:  "Reconciled",
		Message: "the object is as its spec asks",
	}
	if !s3.DeletionTimestamp.IsZero() {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "Deleting", "the object is being deleted"
	}
	meta.SetStatusCondition(&s3.Status.Conditions, ready)
	result, err := reconcile(ctx, s3)
	if apierrors.IsConflict(err) {
		return ctrl.Result{}, err // another writer came first: the next try sees what it wrote
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
			reported.LastTransitionTime = was.LastTransitionTime // whatever it was in between
		}
	}
	if !equality.Semantic.DeepEqual(before.Status, s3.Status) {
		if unwritten := patchStatus(ctx, r.Client, before, s3); unwritten != nil {
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

// SetupWithManager starts the controller with mgr, for every S3 it sees. Reconcile is
// called when the generation changes, which counts the changes of the spec and the
// deletion, and when labels or annotations do. Neither what is written to the
// status calls it, nor the cache when it syncs again: return RequeueAfter to look
// at the world outside from time to time.
func (r *S3Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&systeknov1.S3{}, builder.WithPredicates(changed)).
		Named("s3").
		Complete(r)
}
