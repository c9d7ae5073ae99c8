package v1alpha1

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
)

// memcachedlog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var memcachedlog = logf.Log.WithName("memcached-resource")

// SetupMemcachedWebhookWithManager serves the webhooks of Memcached with mgr. The API
// server calls the webhooks that are added here before it stores an object. Conversion
// webhooks are served without a call here, if the types have conversions.
func SetupMemcachedWebhookWithManager(mgr ctrl.Manager) error {
	memcachedlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &cachev1alpha1.Memcached{}).
		WithValidator(&MemcachedValidator{}).
		Complete()
}

// Deletions are not validated. To validate them, write verbs=create;update;delete
// and implement ValidateDelete.
// +kubebuilder:webhook:path=/validate-cache-example-org-v1alpha1-memcached,mutating=false,failurePolicy=fail,sideEffects=None,groups=cache.example.org,resources=memcacheds,verbs=create;update,versions=v1alpha1,name=vmemcached-v1alpha1.kb.io,admissionReviewVersions=v1

// MemcachedValidator checks rules that the schema of Memcached cannot express, such as
// rules about several fields.
type MemcachedValidator struct{}

// ValidateCreate validates a Memcached before it is created.
func (v *MemcachedValidator) ValidateCreate(_ context.Context, memcached *cachev1alpha1.Memcached) (admission.Warnings, error) {
	return nil, v.validate(memcached)
}

// ValidateUpdate validates a Memcached before it is updated. Compare before and after
// to reject changes of immutable fields.
func (v *MemcachedValidator) ValidateUpdate(_ context.Context, before, after *cachev1alpha1.Memcached) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// The object is being deleted: a rule that is newer than the object must not
		// prevent the removal of its finalizers.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete validates a Memcached before it is deleted, if the marker above
// lists delete.
func (v *MemcachedValidator) ValidateDelete(context.Context, *cachev1alpha1.Memcached) (admission.Warnings, error) {
	return nil, nil
}

// validate returns all errors in a Memcached, each with the path of the field.
func (v *MemcachedValidator) validate(memcached *cachev1alpha1.Memcached) error {
	var errs field.ErrorList

	// Your code goes here: append an error for each invalid field of memcached, such as
	//
	//	if foo := memcached.Spec.Foo; foo != nil && *foo == "" {
	//		errs = append(errs, field.Invalid(field.NewPath("spec", "foo"), *foo, "must not be empty"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "cache.example.org", Kind: "Memcached"}, memcached.Name, errs)
}
