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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	portv1 "example.org/harbor/api/v1"
)

// KioskReconciler reconciles Kiosk objects.
type KioskReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder // nil: the manager's recorder
}

// +kubebuilder:rbac:groups=port.example.org,resources=kiosks,verbs=get;list;watch
// +kubebuilder:rbac:groups=port.example.org,resources=kiosks/status,verbs=update;patch

// Reconcile runs when the named Kiosk may have changed. It may run at any time
// and more than once. If it returns an error, it runs again with increasing delay.
func (r *KioskReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	kiosk := &portv1.Kiosk{}
	if err := r.Get(ctx, req.NamespacedName, kiosk); err != nil {
		// Not found: the object was deleted after the event. There is nothing to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if result, err := r.finalize(ctx, kiosk, func(ctx context.Context, kiosk *portv1.Kiosk) (ctrl.Result, error) {
		return r.reportReady(ctx, kiosk, r.cleanUp)
	}); err != nil || !result.IsZero() {
		return result, err
	}
	if !kiosk.DeletionTimestamp.IsZero() {
		// The object is being deleted: the owners of its finalizers clean up, and
		// Kubernetes deletes the objects that it owns.
		return ctrl.Result{}, nil
	}
	return r.reportReady(ctx, kiosk, r.reconcileSpec)
}

// reconcileSpec makes the actual state match kiosk.Spec and records what it
// observes in kiosk.Status, which reportReady writes afterwards. If the actual
// state matches already, it must not change anything.
func (r *KioskReconciler) reconcileSpec(ctx context.Context, kiosk *portv1.Kiosk) (ctrl.Result, error) {
	if err := r.ensureDeployment(ctx, kiosk); err != nil {
		return ctrl.Result{}, err
	}

	// Your code goes here. Return an error to try again, or RequeueAfter to look again
	// later. The condition Available shows the text of an error, which must not contain
	// secrets. kiosk_status.go describes how to report other results.

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller for Kiosk objects with mgr. Changes of the
// spec, the labels or the annotations, and a deletion, trigger Reconcile. Changes of
// the status and cache resyncs do not: return RequeueAfter to check external state
// periodically.
func (r *KioskReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder("kiosk-controller")
	}
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&portv1.Kiosk{}, builder.WithPredicates(changed)).
		Owns(&appsv1.Deployment{}).
		Named("kiosk").
		Complete(r)
}
