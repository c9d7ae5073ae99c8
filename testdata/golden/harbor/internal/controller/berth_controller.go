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

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	portv1 "example.org/harbor/api/v1"
)

// BerthReconciler brings the world to what Berth objects ask for.
type BerthReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=port.example.org,resources=berths,verbs=get;list;watch
// +kubebuilder:rbac:groups=port.example.org,resources=berths/status,verbs=patch

// Reconcile is called when the named Berth may have changed. It compares
// what is with what the spec asks for, and may be called at any time and any
// number of times: a call that finds nothing to do must change nothing. It is
// called again, later and later, as long as it returns an error.
func (r *BerthReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	berth := &portv1.Berth{}
	if err := r.Get(ctx, req.NamespacedName, berth); err != nil {
		// Not found: it was deleted after the event, and nothing is left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.finalize(ctx, berth, r.cleanUp); err != nil {
		return ctrl.Result{}, err
	}
	if !berth.DeletionTimestamp.IsZero() {
		// It is on its way out: whoever set a finalizer cleans up, and what it
		// owns is collected by Kubernetes.
		return ctrl.Result{}, nil
	}
	before := berth.DeepCopy()
	if err := r.ensureStatefulSet(ctx, berth); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.ensureConfigMap(ctx, berth); err != nil {
		return ctrl.Result{}, err
	}

	// Your code goes here: bring the world to what berth.Spec asks for, and
	// note in berth.Status what you saw. Return errors that may pass.

	return ctrl.Result{}, r.setReady(ctx, before, berth,
		metav1.ConditionTrue, "Reconciled", "the object is as its spec asks")
}

// setReady records the condition Ready, with a reason in one PascalCase word
// and a message for people, and writes the status as far as it differs from what
// it was before.
func (r *BerthReconciler) setReady(
	ctx context.Context, before, berth *portv1.Berth,
	status metav1.ConditionStatus, reason, message string,
) error {
	meta.SetStatusCondition(&berth.Status.Conditions, metav1.Condition{
		Type:               "Ready",
		Status:             status,
		Reason:             reason,
		Message:            message,
		ObservedGeneration: berth.Generation,
	})
	if equality.Semantic.DeepEqual(before.Status, berth.Status) {
		return nil
	}
	// A merge patch replaces the whole list of conditions: the lock makes it
	// fail, and Reconcile run again, when another writer came first.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(r.Status().Patch(ctx, berth, patch))
}

// SetupWithManager starts the controller with mgr, for every Berth it sees.
func (r *BerthReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&portv1.Berth{}).
		Owns(&appsv1.StatefulSet{}).
		Owns(&corev1.ConfigMap{}).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.requestsForSecret),
			builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Named("berth").
		Complete(r)
}
