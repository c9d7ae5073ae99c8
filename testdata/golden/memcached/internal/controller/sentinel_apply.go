package controller

// This file writes the status of a Sentinel by server-side apply. Add the fields that your
// reconcileSpec observes to statusOf.

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
	cachev1alpha1ac "example.org/memcached/api/v1alpha1/applyconfiguration/api/v1alpha1"
)

// applyStatus makes the status of obj have the fields that statusOf returns, whoever changed them, and
// removes those that an earlier call set and statusOf no longer returns. Fields and conditions of
// others stay. If all is as it should be, the object does not change. applyStatus ignores an object
// that was deleted.
func (r *SentinelReconciler) applyStatus(ctx context.Context, obj *cachev1alpha1.Sentinel) error {
	want := cachev1alpha1ac.Sentinel(obj.Name, obj.Namespace).WithStatus(r.statusOf(obj))
	if err := r.Status().Apply(ctx, want, client.FieldOwner("sentinel-controller"), client.ForceOwnership); err != nil {
		return client.IgnoreNotFound(err)
	}
	// want has the answer now. With the new version, a later write of obj does not conflict with this
	// one, unless others changed the object, too.
	if (want.Generation == nil || *want.Generation == obj.Generation) && slices.Equal(want.Finalizers, obj.Finalizers) {
		obj.ResourceVersion = *want.ResourceVersion
	}
	return nil
}

// statusOf returns the part of the status that belongs to this controller.
func (r *SentinelReconciler) statusOf(obj *cachev1alpha1.Sentinel) *cachev1alpha1ac.SentinelStatusApplyConfiguration {
	status := cachev1alpha1ac.SentinelStatus()
	if c := meta.FindStatusCondition(obj.Status.Conditions, "Ready"); c != nil {
		status.WithConditions(metav1ac.Condition().
			WithType(c.Type).
			WithStatus(c.Status).
			WithObservedGeneration(c.ObservedGeneration).
			WithLastTransitionTime(c.LastTransitionTime).
			WithReason(c.Reason).
			WithMessage(c.Message))
	}
	return status
}
