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

// This file keeps the Deployment of a Kiosk as its spec describes it. Change the
// container in deploymentForKiosk. The image comes from the manager's environment
// (config/manager/manager.yaml), so that an upgrade of the operator can change it. If a Kiosk
// deploys nothing, delete this file, its test, the call to ensureDeployment, and Owns in
// SetupWithManager.

import (
	"context"
	"errors"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	portv1 "example.org/harbor/api/v1"
)

// kioskImage is the environment variable of the manager that contains the image.
const kioskImage = "KIOSK_IMAGE"

// Server-side apply needs create and patch, and the cache list and watch. Some API servers
// require permission to update the finalizers of the owner for setting an owner reference.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups=port.example.org,resources=kiosks/finalizers,verbs=update
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// ensureDeployment makes the Deployment of obj match its spec, and reports its state in the
// conditions Available and Degraded. Reconcile calls it, including after each change of the
// Deployment. Kubernetes deletes the Deployment together with obj.
func (r *KioskReconciler) ensureDeployment(ctx context.Context, obj *portv1.Kiosk) error {
	have := &appsv1.Deployment{} // as in the cache: each change triggers Reconcile
	if err := r.Get(ctx, client.ObjectKeyFromObject(obj), have); client.IgnoreNotFound(err) != nil {
		return err
	}
	err := r.applyDeployment(ctx, obj, have)
	available := metav1.Condition{
		Type: "Available", Status: metav1.ConditionFalse, ObservedGeneration: obj.Generation,
		Reason: "DeploymentUnavailable", Message: "the Deployment does not have enough available pods yet",
	}
	degraded := metav1.Condition{
		Type: "Degraded", Status: metav1.ConditionFalse, ObservedGeneration: obj.Generation,
		Reason: "AsExpected", Message: "the Deployment makes progress or is available",
	}
	for _, c := range have.Status.Conditions {
		switch {
		case c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionTrue && have.Status.ObservedGeneration >= have.Generation:
			available.Status, available.Reason, available.Message = metav1.ConditionTrue, "DeploymentAvailable", "the Deployment has enough available pods"
		case c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse,
			c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue:
			degraded.Status, degraded.Reason, degraded.Message = metav1.ConditionTrue, c.Reason, c.Message
		}
	}
	if err != nil {
		degraded.Status, degraded.Reason, degraded.Message = metav1.ConditionTrue, "ReconcileFailed", err.Error()
	}
	meta.SetStatusCondition(&obj.Status.Conditions, available)
	meta.SetStatusCondition(&obj.Status.Conditions, degraded)
	return err
}

// applyDeployment writes the Deployment of obj by server-side apply. It overwrites the fields
// that deploymentForKiosk sets, whoever changed them, and leaves all other fields alone. have is
// the Deployment before, or empty.
func (r *KioskReconciler) applyDeployment(ctx context.Context, obj *portv1.Kiosk, have *appsv1.Deployment) error {
	exists := have.ResourceVersion != ""
	if exists && !metav1.IsControlledBy(have, obj) {
		return fmt.Errorf("the Deployment %s exists and does not belong to the Kiosk", have.Name)
	}
	image := os.Getenv(kioskImage)
	if image == "" {
		// Only a new process of the manager can have another environment.
		return reconcile.TerminalError(errors.New("the environment variable " + kioskImage + " of the manager is not set"))
	}
	want := deploymentForKiosk(obj, image)
	owner := client.FieldOwner("kiosk-controller")
	if err := r.Apply(ctx, want, owner, client.ForceOwnership); err != nil {
		return err
	}
	changed := want.Generation != nil && *want.Generation != have.Generation // Apply reads the answer into want
	switch {
	case !exists:
		r.Recorder.Eventf(obj, nil, corev1.EventTypeNormal, "Created", "Apply", "Created the Deployment %s", obj.Name)
	case changed:
		r.Recorder.Eventf(obj, nil, corev1.EventTypeNormal, "Updated", "Apply", "Updated the Deployment %s", obj.Name)
	}
	return nil
}

// deploymentForKiosk returns the fields of the Deployment that follow from obj. Its pods meet
// the restricted pod security standard.
func deploymentForKiosk(obj *portv1.Kiosk, image string) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{
		"app.kubernetes.io/name":     "kiosk",
		"app.kubernetes.io/instance": obj.Name,
	}
	container := corev1ac.Container().
		WithName("kiosk").
		WithImage(image).
		WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
	if port := obj.Spec.ContainerPort; port != nil {
		container.WithPorts(corev1ac.ContainerPort().WithContainerPort(*port).WithProtocol(corev1.ProtocolTCP))
	}
	spec := appsv1ac.DeploymentSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(corev1ac.PodTemplateSpec().
			WithLabels(labels).
			WithSpec(corev1ac.PodSpec().
				WithContainers(container).
				WithAutomountServiceAccountToken(false).
				WithSecurityContext(corev1ac.PodSecurityContext().
					WithRunAsNonRoot(true).
					WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault)))))
	spec.Replicas = obj.Spec.Size
	return appsv1ac.Deployment(obj.Name, obj.Namespace).
		WithLabels(labels).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion("port.example.org/v1").
			WithKind("Kiosk").
			WithName(obj.Name).
			WithUID(obj.UID).
			WithController(true).
			WithBlockOwnerDeletion(true)).
		WithSpec(spec)
}
