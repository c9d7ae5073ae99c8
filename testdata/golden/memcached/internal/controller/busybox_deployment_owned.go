package controller

// This file keeps the Deployment of a Busybox as its spec describes it. Change the
// container in deploymentForBusybox. The image comes from the manager's environment
// (config/manager/manager.yaml), so that an upgrade of the operator can change it. If a Busybox
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

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
)

// busyboxImage is the environment variable of the manager that contains the image.
const busyboxImage = "BUSYBOX_IMAGE"

// Server-side apply needs create and patch, and the cache list and watch. Some API servers
// require permission to update the finalizers of the owner for setting an owner reference.
// +kubebuilder:rbac:groups=apps,namespace=memcached-system,resources=deployments,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups=cache.example.org,namespace=memcached-system,resources=busyboxes/finalizers,verbs=update
// +kubebuilder:rbac:groups=events.k8s.io,namespace=memcached-system,resources=events,verbs=create;patch

// ensureDeployment makes the Deployment of obj match its spec, and reports its state in the
// conditions Available and Degraded. Reconcile calls it, including after each change of the
// Deployment. Kubernetes deletes the Deployment together with obj.
func (r *BusyboxReconciler) ensureDeployment(ctx context.Context, obj *cachev1alpha1.Busybox) error {
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
// that deploymentForBusybox sets, whoever changed them, and leaves all other fields alone. have is
// the Deployment before, or empty.
func (r *BusyboxReconciler) applyDeployment(ctx context.Context, obj *cachev1alpha1.Busybox, have *appsv1.Deployment) error {
	exists := have.ResourceVersion != ""
	if exists && !metav1.IsControlledBy(have, obj) {
		return fmt.Errorf("the Deployment %s exists and does not belong to the Busybox", have.Name)
	}
	image := os.Getenv(busyboxImage)
	if image == "" {
		// Only a new process of the manager can have another environment.
		return reconcile.TerminalError(errors.New("the environment variable " + busyboxImage + " of the manager is not set"))
	}
	want := deploymentForBusybox(obj, image)
	owner := client.FieldOwner("busybox-controller")
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

// deploymentForBusybox returns the fields of the Deployment that follow from obj. Its pods meet
// the restricted pod security standard.
func deploymentForBusybox(obj *cachev1alpha1.Busybox, image string) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{
		"app.kubernetes.io/name":     "busybox",
		"app.kubernetes.io/instance": obj.Name,
	}
	container := corev1ac.Container().
		WithName("busybox").
		WithImage(image).
		WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
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
			WithAPIVersion("cache.example.org/v1alpha1").
			WithKind("Busybox").
			WithName(obj.Name).
			WithUID(obj.UID).
			WithController(true).
			WithBlockOwnerDeletion(true)).
		WithSpec(spec)
}
