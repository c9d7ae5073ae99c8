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

// This file selects the Deployment objects to reconcile when a Secret changes.
//
// If none depends on a Secret, delete this file and
// deployment_secret_watched_test.go, and in SetupWithManager the call to Watches.

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	appsv1 "k8s.io/api/apps/v1"
)

// The cache needs list and watch.
// +kubebuilder:rbac:groups=core,resources=secrets,verbs=list;watch

// requestsForSecret returns the Deployment objects to reconcile after an event of
// a Secret: all Deployment objects in its namespace in the cache.
//
// If a Deployment refers to a Secret by name, return only the objects that
// refer to this one: skip an item whose spec has another name than obj.GetName().
func (r *DeploymentReconciler) requestsForSecret(ctx context.Context, obj client.Object) []ctrl.Request {
	list := &appsv1.DeploymentList{}
	if err := r.List(ctx, list, client.InNamespace(obj.GetNamespace())); err != nil {
		logf.FromContext(ctx).Error(err, "cannot list the objects to reconcile for the Secret", "name", obj.GetName())
		return nil
	}
	var requests []ctrl.Request
	for i := range list.Items {
		requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}
