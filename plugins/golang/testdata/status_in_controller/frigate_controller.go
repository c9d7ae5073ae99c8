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

	shipv1 "example.org/fleet/api/v1"
)

// FrigateReconciler reconciles Frigate objects.
type FrigateReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=ship.example.org,resources=frigates,verbs=get;list;watch
// +kubebuilder:rbac:groups=ship.example.org,resources=frigates/status,verbs=patch

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
	// Your code goes here. Return an error to try again. The condition Ready shows
	// its text, which must not contain secrets, unless you set the condition to False
	// yourself, with a reason and a message. Waiting is not an error: set the condition
	// Ready to False, say what you wait for, and return RequeueAfter.

	return ctrl.Result{}, nil
}

// reportReady calls reconcile for frigate and records the result in the condition
// Ready, unless reconcile sets that condition itself. It writes the status if it
// changed. An object that is being deleted is never ready.
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

// SetupWithManager registers the controller for Frigate objects with mgr. Changes of the
// spec, the labels or the annotations, and a deletion, trigger Reconcile. Changes of
// the status and cache resyncs do not: return RequeueAfter to check external state
// periodically.
func (r *FrigateReconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&shipv1.Frigate{}, builder.WithPredicates(changed)).
		Named("frigate").
		Complete(r)
}
