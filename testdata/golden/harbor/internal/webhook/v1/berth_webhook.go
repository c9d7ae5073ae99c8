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

package v1

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	portv1 "example.org/harbor/api/v1"
)

// berthlog logs what concerns no single request; logf.FromContext(ctx) gives
// the logger of one.
var berthlog = logf.Log.WithName("berth-resource")

// SetupBerthWebhookWithManager serves the webhooks of Berth with mgr. The API
// server calls those that are named here before it stores an object. A conversion
// needs no name: it is served as soon as the types have one.
func SetupBerthWebhookWithManager(mgr ctrl.Manager) error {
	berthlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &portv1.Berth{}).
		WithDefaulter(&BerthCustomDefaulter{}).
		WithValidator(&BerthCustomValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-port-example-org-v1-berth,mutating=true,failurePolicy=fail,sideEffects=None,groups=port.example.org,resources=berths,verbs=create;update,versions=v1,name=mberth-v1.kb.io,admissionReviewVersions=v1

// BerthCustomDefaulter fills in what was left out of a Berth.
type BerthCustomDefaulter struct{}

// Default is called when a Berth is about to be created or updated, and
// before it is validated. What it changes in the object will be stored. Called
// again with the outcome, it must change nothing more.
func (d *BerthCustomDefaulter) Default(_ context.Context, berth *portv1.Berth) error {
	// Your code goes here: set what is missing in berth, such as
	//
	//	if berth.Spec.Foo == nil {
	//		berth.Spec.Foo = new("bar")
	//	}

	return nil
}

// Deletions are not validated. To change that, write verbs=create;update;delete
// and fill in ValidateDelete.
// +kubebuilder:webhook:path=/validate-port-example-org-v1-berth,mutating=false,failurePolicy=fail,sideEffects=None,groups=port.example.org,resources=berths,verbs=create;update,versions=v1,name=vberth-v1.kb.io,admissionReviewVersions=v1

// BerthCustomValidator refuses what the schema of Berth cannot: whatever takes
// more than one field, or more than a pattern, to tell.
type BerthCustomValidator struct{}

// ValidateCreate is called when a Berth is about to be created.
func (v *BerthCustomValidator) ValidateCreate(_ context.Context, berth *portv1.Berth) (admission.Warnings, error) {
	return nil, v.validate(berth)
}

// ValidateUpdate is called when a Berth is about to be updated. Rules about
// the change itself, such as fields that must not change, compare before and after.
func (v *BerthCustomValidator) ValidateUpdate(_ context.Context, before, after *portv1.Berth) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// It is on its way out: a rule that is newer than the object must not
		// keep its finalizers from being removed.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete is called when a Berth is about to be deleted, if the marker
// above asks for it.
func (v *BerthCustomValidator) ValidateDelete(context.Context, *portv1.Berth) (admission.Warnings, error) {
	return nil, nil
}

// validate returns everything that is wrong with a Berth at once, each with
// the path of its field.
func (v *BerthCustomValidator) validate(berth *portv1.Berth) error {
	var errs field.ErrorList

	// Your code goes here: append to errs what is wrong with berth, such as
	//
	//	if foo := berth.Spec.Foo; foo != nil && *foo == "" {
	//		errs = append(errs, field.Invalid(field.NewPath("spec", "foo"), *foo, "must not be empty"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "port.example.org", Kind: "Berth"}, berth.Name, errs)
}
