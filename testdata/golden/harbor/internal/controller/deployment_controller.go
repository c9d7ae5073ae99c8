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
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// DeploymentReconciler reconciles Deployment objects, which this project does not define.
type DeploymentReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// Add the resources and verbs that your code needs.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch

// Reconcile runs when the named Deployment may have changed. It may run at any time
// and more than once, so it must not change anything if there is nothing to do. If
// it returns an error, it runs again with increasing delay.
func (r *DeploymentReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	deployment := &appsv1.Deployment{}
	if err := r.Get(ctx, req.NamespacedName, deployment); err != nil {
		// Not found: the object was deleted after the event. There is nothing to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !r.isSelected(deployment) {
		return ctrl.Result{}, nil
	}
	if result, err := r.finalize(ctx, deployment, r.cleanUp); err != nil || !result.IsZero() {
		return result, err
	}
	if !deployment.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// Your code goes here. Other controllers also write this object: patch only the
	// fields that belong to this controller.

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller for Deployment objects with mgr.
func (r *DeploymentReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&appsv1.Deployment{}, builder.WithPredicates(predicate.NewPredicateFuncs(r.isSelected))).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.requestsForSecret),
			builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Named("deployment").
		Complete(r)
}
