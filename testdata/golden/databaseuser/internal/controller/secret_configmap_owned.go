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

// This file creates the ConfigMap objects that a Secret owns.
//
// If it owns none, delete this file and secret_configmap_owned_test.go, the call to
// ensureConfigMap, and in SetupWithManager the call to Owns.

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// The cache needs list and watch. Some API servers require permission to update the
// finalizers of the owner for setting an owner reference.
// +kubebuilder:rbac:groups=core,namespace=databaseuser-system,resources=configmaps,verbs=list;watch;create;update
// +kubebuilder:rbac:groups=core,namespace=databaseuser-system,resources=secrets/finalizers,verbs=update

// ensureConfigMap creates or updates the objects of kind ConfigMap that secret owns.
// Reconcile calls it, including after each change of an owned object. Kubernetes deletes
// these objects together with secret.
//
// Your code goes here. For a ConfigMap of the same name:
//
//	configmap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
//		Namespace: secret.Namespace,
//		Name:      secret.Name,
//	}}
//	return own(ctx, r.Client, secret, configmap, func() error {
//		// Set the fields of configmap that follow from secret.Spec.
//		return nil
//	})
func (r *SecretReconciler) ensureConfigMap(ctx context.Context, secret *corev1.Secret) error {
	return nil
}
