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

// quaylog logs what concerns no single request; logf.FromContext(ctx) gives
// the logger of one.
var quaylog = logf.Log.WithName("quay-resource")

// SetupQuayWebhookWithManager serves the webhooks of Quay with mgr. The API
// server calls those that are named here before it stores an object. A conversion
// needs no name: it is served as soon as the types have one.
func SetupQuayWebhookWithManager(mgr ctrl.Manager) error {
	quaylog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &portv1.Quay{}).
		WithValidator(&QuayCustomValidator{}).
		WithValidatorCustomPath("/check-quay").
		Complete()
}

// Deletions are not validated. To change that, write verbs=create;update;delete
// and fill in ValidateDelete.
// +kubebuilder:webhook:path=/check-quay,mutating=false,failurePolicy=fail,sideEffects=None,groups=port.example.org,resources=quays,verbs=create;update,versions=v1,name=vquay-v1.kb.io,admissionReviewVersions=v1

// QuayCustomValidator refuses what the schema of Quay cannot: whatever takes
// more than one field, or more than a pattern, to tell.
type QuayCustomValidator struct{}

// ValidateCreate is called when a Quay is about to be created.
func (v *QuayCustomValidator) ValidateCreate(_ context.Context, quay *portv1.Quay) (admission.Warnings, error) {
	return nil, v.validate(quay)
}

// ValidateUpdate is called when a Quay is about to be updated. Rules about
// the change itself, such as fields that must not change, compare before and after.
func (v *QuayCustomValidator) ValidateUpdate(_ context.Context, before, after *portv1.Quay) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// It is on its way out: a rule that is newer than the object must not
		// keep its finalizers from being removed.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete is called when a Quay is about to be deleted, if the marker
// above asks for it.
func (v *QuayCustomValidator) ValidateDelete(context.Context, *portv1.Quay) (admission.Warnings, error) {
	return nil, nil
}

// validate returns everything that is wrong with a Quay at once, each with
// the path of its field.
func (v *QuayCustomValidator) validate(quay *portv1.Quay) error {
	var errs field.ErrorList

	// Your code goes here: append to errs what is wrong with quay, such as
	//
	//	if foo := quay.Spec.Foo; foo != nil && *foo == "" {
	//		errs = append(errs, field.Invalid(field.NewPath("spec", "foo"), *foo, "must not be empty"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "port.example.org", Kind: "Quay"}, quay.Name, errs)
}
