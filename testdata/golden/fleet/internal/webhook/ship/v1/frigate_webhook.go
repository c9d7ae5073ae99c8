package v1

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	shipv1 "example.org/fleet/api/ship/v1"
)

// frigatelog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var frigatelog = logf.Log.WithName("frigate-resource")

// SetupFrigateWebhookWithManager serves the webhooks of Frigate with mgr. The API
// server calls the webhooks that are added here before it stores an object. Conversion
// webhooks are served without a call here, if the types have conversions.
func SetupFrigateWebhookWithManager(mgr ctrl.Manager) error {
	frigatelog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &shipv1.Frigate{}).
		WithDefaulter(&FrigateDefaulter{}).
		WithValidator(&FrigateValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-ship-example-org-v1-frigate,mutating=true,failurePolicy=fail,sideEffects=None,groups=ship.example.org,resources=frigates,verbs=create;update,versions=v1,name=mfrigate-v1.kb.io,admissionReviewVersions=v1

// FrigateDefaulter sets defaults in Frigate objects.
type FrigateDefaulter struct{}

// Default sets the defaults of a Frigate before it is validated and stored. It must
// be idempotent: a second call must not change anything.
func (d *FrigateDefaulter) Default(_ context.Context, frigate *shipv1.Frigate) error {
	// Your code goes here: set the missing fields of frigate, such as
	//
	//	if frigate.Spec.Foo == nil {
	//		frigate.Spec.Foo = new("bar")
	//	}

	return nil
}

// Deletions are not validated. To validate them, write verbs=create;update;delete
// and implement ValidateDelete.
// +kubebuilder:webhook:path=/validate-ship-example-org-v1-frigate,mutating=false,failurePolicy=fail,sideEffects=None,groups=ship.example.org,resources=frigates,verbs=create;update,versions=v1,name=vfrigate-v1.kb.io,admissionReviewVersions=v1

// FrigateValidator checks rules that the schema of Frigate cannot express, such as
// rules about several fields.
type FrigateValidator struct{}

// ValidateCreate validates a Frigate before it is created.
func (v *FrigateValidator) ValidateCreate(_ context.Context, frigate *shipv1.Frigate) (admission.Warnings, error) {
	return nil, v.validate(frigate)
}

// ValidateUpdate validates a Frigate before it is updated. Compare before and after
// to reject changes of immutable fields.
func (v *FrigateValidator) ValidateUpdate(_ context.Context, before, after *shipv1.Frigate) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// The object is being deleted: a rule that is newer than the object must not
		// prevent the removal of its finalizers.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete validates a Frigate before it is deleted, if the marker above
// lists delete.
func (v *FrigateValidator) ValidateDelete(context.Context, *shipv1.Frigate) (admission.Warnings, error) {
	return nil, nil
}

// validate returns all errors in a Frigate, each with the path of the field.
func (v *FrigateValidator) validate(frigate *shipv1.Frigate) error {
	var errs field.ErrorList

	// Your code goes here: append an error for each invalid field of frigate, such as
	//
	//	if foo := frigate.Spec.Foo; foo != nil && *foo == "" {
	//		errs = append(errs, field.Invalid(field.NewPath("spec", "foo"), *foo, "must not be empty"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "ship.example.org", Kind: "Frigate"}, frigate.Name, errs)
}
