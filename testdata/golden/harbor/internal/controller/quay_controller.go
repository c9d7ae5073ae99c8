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

	portv1 "example.org/harbor/api/v1"
)

// QuayReconciler brings the world to what Quay objects ask for.
type QuayReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=port.example.org,resources=quays,verbs=get;list;watch
// +kubebuilder:rbac:groups=port.example.org,resources=quays/status,verbs=patch

// Reconcile is called when the named Quay may have changed, at any time and
// any number of times, and again, later and later, as long as it returns an error.
func (r *QuayReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	quay := &portv1.Quay{}
	if err := r.Get(ctx, req.NamespacedName, quay); err != nil {
		// Not found: it was deleted after the event, and nothing is left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !r.isSelected(quay) {
		return ctrl.Result{}, nil
	}
	if !quay.DeletionTimestamp.IsZero() {
		// It is on its way out: whoever set a finalizer cleans up, and what it
		// owns is collected by Kubernetes.
		return ctrl.Result{}, nil
	}
	return r.reportReady(ctx, quay, r.reconcileSpec)
}

// reconcileSpec brings the world to what quay.Spec asks for, and notes in
// quay.Status what it saw, which is written when it returns. It compares what
// is with what should be: a call that finds nothing to do must change nothing.
func (r *QuayReconciler) reconcileSpec(ctx context.Context, quay *portv1.Quay) (ctrl.Result, error) {
	// Your code goes here. Return errors that may pass: the condition Ready shows
	// their text, so it must hold no secrets, unless you set it to False yourself, with
	// a reason and a message. What takes its time is no error: return RequeueAfter, and
	// set the condition Ready to False with what is awaited.

	return ctrl.Result{}, nil
}

// reportReady calls reconcile for quay, records in the condition Ready whether it
// succeeded, unless reconcile itself set it, and writes the status as far as it
// differs from what it was before. What is being deleted is never ready.
func (r *QuayReconciler) reportReady(
	ctx context.Context, quay *portv1.Quay,
	reconcile func(context.Context, *portv1.Quay) (ctrl.Result, error),
) (ctrl.Result, error) {
	before := quay.DeepCopy()
	ready := metav1.Condition{
		Type:    "Ready",
		Status:  metav1.ConditionTrue,
		Reason:  "Reconciled",
		Message: "the object is as its spec asks",
	}
	if !quay.DeletionTimestamp.IsZero() {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "Deleting", "the object is being deleted"
	}
	meta.SetStatusCondition(&quay.Status.Conditions, ready)
	result, err := reconcile(ctx, quay)
	if apierrors.IsConflict(err) {
		return ctrl.Result{}, err // another writer came first: the next try sees what it wrote
	}
	reported := meta.FindStatusCondition(quay.Status.Conditions, ready.Type)
	if err != nil && (reported == nil || reported.Status == metav1.ConditionTrue || reported.Reason == ready.Reason) {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "ReconcileFailed", err.Error()
		meta.SetStatusCondition(&quay.Status.Conditions, ready)
		reported = meta.FindStatusCondition(quay.Status.Conditions, ready.Type)
	}
	if reported != nil {
		reported.ObservedGeneration = before.Generation
		was := meta.FindStatusCondition(before.Status.Conditions, ready.Type)
		if was != nil && was.Status == reported.Status {
			reported.LastTransitionTime = was.LastTransitionTime // whatever it was in between
		}
	}
	if !equality.Semantic.DeepEqual(before.Status, quay.Status) {
		if unwritten := patchStatus(ctx, r.Client, before, quay); unwritten != nil {
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

// SetupWithManager starts the controller with mgr, for every Quay it sees. Reconcile is
// called when the generation changes, which counts the changes of the spec and the
// deletion, and when labels or annotations do. Neither what is written to the
// status calls it, nor the cache when it syncs again: return RequeueAfter to look
// at the world outside from time to time.
func (r *QuayReconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&portv1.Quay{}, builder.WithPredicates(changed, predicate.NewPredicateFuncs(r.isSelected))).
		Named("quay").
		Complete(r)
}
