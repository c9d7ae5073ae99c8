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

// This file creates the ConfigMap objects that a Berth owns.
//
// If it owns none, delete this file and berth_configmap_owned_test.go, the call to
// ensureConfigMap, and in SetupWithManager the call to Owns.

import (
	"context"

	portv1 "example.org/harbor/api/v1"
)

// The cache needs list and watch. Some API servers require permission to update the
// finalizers of the owner for setting an owner reference.
// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=list;watch;create;update
// +kubebuilder:rbac:groups=port.example.org,resources=berths/finalizers,verbs=update

// ensureConfigMap creates or updates the objects of kind ConfigMap that berth owns.
// Reconcile calls it, including after each change of an owned object. Kubernetes deletes
// these objects together with berth.
//
// Your code goes here. For a ConfigMap of the same name:
//
//	configmap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
//		Namespace: berth.Namespace,
//		Name:      berth.Name,
//	}}
//	return own(ctx, r.Client, berth, configmap, func() error {
//		// Set the fields of configmap that follow from berth.Spec.
//		return nil
//	})
func (r *BerthReconciler) ensureConfigMap(ctx context.Context, berth *portv1.Berth) error {
	return nil
}
