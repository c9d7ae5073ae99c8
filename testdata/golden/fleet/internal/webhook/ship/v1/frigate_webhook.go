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

// frigatelog logs what concerns no single request; logf.FromContext(ctx) gives
// the logger of one.
var frigatelog = logf.Log.WithName("frigate-resource")

// SetupFrigateWebhookWithManager serves the webhooks of Frigate with mgr. The API
// server calls those that are named here before it stores an object. A conversion
// needs no name: it is served as soon as the types have one.
func SetupFrigateWebhookWithManager(mgr ctrl.Manager) error {
	frigatelog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &shipv1.Frigate{}).
		WithDefaulter(&FrigateCustomDefaulter{}).
		WithValidator(&FrigateCustomValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-ship-example-org-v1-frigate,mutating=true,failurePolicy=fail,sideEffects=None,groups=ship.example.org,resources=frigates,verbs=create;update,versions=v1,name=mfrigate-v1.kb.io,admissionReviewVersions=v1

// FrigateCustomDefaulter fills in what was left out of a Frigate.
type FrigateCustomDefaulter struct{}

// Default is called when a Frigate is about to be created or updated, and
// before it is validated. What it changes in the object will be stored. Called
// again with the outcome, it must change nothing more.
func (d *FrigateCustomDefaulter) Default(_ context.Context, frigate *shipv1.Frigate) error {
	// Your code goes here: set what is missing in frigate, such as
	//
	//	if frigate.Spec.Foo == nil {
	//		frigate.Spec.Foo = new("bar")
	//	}

	return nil
}

// Deletions are not validated. To change that, write verbs=create;update;delete
// and fill in ValidateDelete.
// +kubebuilder:webhook:path=/validate-ship-example-org-v1-frigate,mutating=false,failurePolicy=fail,sideEffects=None,groups=ship.example.org,resources=frigates,verbs=create;update,versions=v1,name=vfrigate-v1.kb.io,admissionReviewVersions=v1

// FrigateCustomValidator refuses what the schema of Frigate cannot: whatever takes
// more than one field, or more than a pattern, to tell.
type FrigateCustomValidator struct{}

// ValidateCreate is called when a Frigate is about to be created.
func (v *FrigateCustomValidator) ValidateCreate(_ context.Context, frigate *shipv1.Frigate) (admission.Warnings, error) {
	return nil, v.validate(frigate)
}

// ValidateUpdate is called when a Frigate is about to be updated. Rules about
// the change itself, such as fields that must not change, compare before and after.
func (v *FrigateCustomValidator) ValidateUpdate(_ context.Context, before, after *shipv1.Frigate) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// It is on its way out: a rule that is newer than the object must not
		// keep its finalizers from being removed.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete is called when a Frigate is about to be deleted, if the marker
// above asks for it.
func (v *FrigateCustomValidator) ValidateDelete(context.Context, *shipv1.Frigate) (admission.Warnings, error) {
	return nil, nil
}

// validate returns everything that is wrong with a Frigate at once, each with
// the path of its field.
func (v *FrigateCustomValidator) validate(frigate *shipv1.Frigate) error {
	var errs field.ErrorList

	// Your code goes here: append to errs what is wrong with frigate, such as
	//
	//	if foo := frigate.Spec.Foo; foo != nil && *foo == "" {
	//		errs = append(errs, field.Invalid(field.NewPath("spec", "foo"), *foo, "must not be empty"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "ship.example.org", Kind: "Frigate"}, frigate.Name, errs)
}
