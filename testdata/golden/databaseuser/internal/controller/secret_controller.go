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
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"
)

// SecretReconciler acts on Secret objects, which others define and write.
type SecretReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// Add the verbs that your code comes to use, and the resources.
// +kubebuilder:rbac:groups=core,namespace=databaseuser-system,resources=secrets,verbs=get;list;watch

// Reconcile is called when the named Secret may have changed. It may be called
// at any time and any number of times: a call that finds nothing to do must
// change nothing. It is called again, later and later, as long as it returns an
// error.
func (r *SecretReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	secret := &corev1.Secret{}
	if err := r.Get(ctx, req.NamespacedName, secret); err != nil {
		// Not found: it was deleted after the event, and nothing is left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !secret.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	if err := r.ensureConfigMap(ctx, secret); err != nil {
		return ctrl.Result{}, err
	}

	// Your code goes here. Other controllers write this object too: patch the
	// fields that are yours, and leave the others alone.

	return ctrl.Result{}, nil
}

// SetupWithManager starts the controller with mgr, for every Secret it sees.
func (r *SecretReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&corev1.Secret{}).
		Owns(&corev1.ConfigMap{}).
		Named("secret").
		Complete(r)
}
