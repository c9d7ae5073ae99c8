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

// quaylog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var quaylog = logf.Log.WithName("quay-resource")

// SetupQuayWebhookWithManager serves the webhooks of Quay with mgr. The API
// server calls the webhooks that are added here before it stores an object. Conversion
// webhooks are served without a call here, if the types have conversions.
func SetupQuayWebhookWithManager(mgr ctrl.Manager) error {
	quaylog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &portv1.Quay{}).
		WithValidator(&QuayValidator{}).
		WithValidatorCustomPath("/check-quay").
		Complete()
}

// Deletions are not validated. To validate them, write verbs=create;update;delete
// and implement ValidateDelete.
// +kubebuilder:webhook:path=/check-quay,mutating=false,failurePolicy=fail,sideEffects=None,groups=port.example.org,resources=quays,verbs=create;update,versions=v1,name=vquay-v1.kb.io,admissionReviewVersions=v1

// QuayValidator checks rules that the schema of Quay cannot express, such as
// rules about several fields.
type QuayValidator struct{}

// ValidateCreate validates a Quay before it is created.
func (v *QuayValidator) ValidateCreate(_ context.Context, quay *portv1.Quay) (admission.Warnings, error) {
	return nil, v.validate(quay)
}

// ValidateUpdate validates a Quay before it is updated. Compare before and after
// to reject changes of immutable fields.
func (v *QuayValidator) ValidateUpdate(_ context.Context, before, after *portv1.Quay) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// The object is being deleted: a rule that is newer than the object must not
		// prevent the removal of its finalizers.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete validates a Quay before it is deleted, if the marker above
// lists delete.
func (v *QuayValidator) ValidateDelete(context.Context, *portv1.Quay) (admission.Warnings, error) {
	return nil, nil
}

// validate returns all errors in a Quay, each with the path of the field.
func (v *QuayValidator) validate(quay *portv1.Quay) error {
	var errs field.ErrorList

	// Your code goes here: append an error for each invalid field of quay, such as
	//
	//	if foo := quay.Spec.Foo; foo != nil && *foo == "" {
	//		errs = append(errs, field.Invalid(field.NewPath("spec", "foo"), *foo, "must not be empty"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "port.example.org", Kind: "Quay"}, quay.Name, errs)
}
