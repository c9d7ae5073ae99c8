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

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	portv1 "example.org/harbor/api/v1"
)

// BerthBillingReconciler reconciles Berth objects.
type BerthBillingReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=port.example.org,resources=berths,verbs=get;list;watch
// +kubebuilder:rbac:groups=port.example.org,resources=berths/status,verbs=update;patch

// Reconcile runs when the named Berth may have changed. It may run at any time
// and more than once. If it returns an error, it runs again with increasing delay.
func (r *BerthBillingReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	berth := &portv1.Berth{}
	if err := r.Get(ctx, req.NamespacedName, berth); err != nil {
		// Not found: the object was deleted after the event. There is nothing to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !berth.DeletionTimestamp.IsZero() {
		// The object is being deleted: the owners of its finalizers clean up, and
		// Kubernetes deletes the objects that it owns.
		return ctrl.Result{}, nil
	}
	return r.reportReady(ctx, berth, r.reconcileSpec)
}

// reconcileSpec makes the actual state match berth.Spec and records what it
// observes in berth.Status, which reportReady writes afterwards. If the actual
// state matches already, it must not change anything.
func (r *BerthBillingReconciler) reconcileSpec(ctx context.Context, berth *portv1.Berth) (ctrl.Result, error) {
	// Your code goes here. Return an error to try again, or RequeueAfter to look again
	// later. The condition BerthBillingReady shows the text of an error, which must not contain
	// secrets. berth_billing_status.go describes how to report other results.

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller for Berth objects with mgr. Changes of the
// spec, the labels or the annotations, and a deletion, trigger Reconcile. Changes of
// the status and cache resyncs do not: return RequeueAfter to check external state
// periodically.
func (r *BerthBillingReconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&portv1.Berth{}, builder.WithPredicates(changed)).
		Named("berth-billing").
		Complete(r)
}
