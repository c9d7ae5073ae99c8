package ship

// This file creates the ConfigMap objects that a Frigate owns.
//
// If it owns none, delete this file and frigate_configmap_owned_test.go, the call to
// ensureConfigMap, and in SetupWithManager the call to Owns.

import (
	"context"

	shipv1 "example.org/fleet/api/ship/v1"
)

// The cache needs list and watch. Some API servers require permission to update the
// finalizers of the owner for setting an owner reference.
// +kubebuilder:rbac:groups=core,namespace=fleet-system,resources=configmaps,verbs=list;watch;create;update
// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=frigates/finalizers,verbs=update

// ensureConfigMap creates or updates the objects of kind ConfigMap that frigate owns.
// Reconcile calls it, including after each change of an owned object. Kubernetes deletes
// these objects together with frigate.
//
// Your code goes here. For a ConfigMap of the same name:
//
//	configmap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
//		Namespace: frigate.Namespace,
//		Name:      frigate.Name,
//	}}
//	return own(ctx, r.Client, frigate, configmap, func() error {
//		// Set the fields of configmap that follow from frigate.Spec.
//		return nil
//	})
func (r *FrigateReconciler) ensureConfigMap(ctx context.Context, frigate *shipv1.Frigate) error {
	return nil
}
