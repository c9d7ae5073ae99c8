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

// berthlog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var berthlog = logf.Log.WithName("berth-resource")

// SetupBerthWebhookWithManager serves the webhooks of Berth with mgr. The API
// server calls the webhooks that are added here before it stores an object. Conversion
// webhooks are served without a call here, if the types have conversions.
func SetupBerthWebhookWithManager(mgr ctrl.Manager) error {
	berthlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &portv1.Berth{}).
		WithDefaulter(&BerthDefaulter{}).
		WithValidator(&BerthValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-port-example-org-v1-berth,mutating=true,failurePolicy=fail,sideEffects=None,groups=port.example.org,resources=berths,verbs=create;update,versions=v1,name=mberth-v1.kb.io,admissionReviewVersions=v1

// BerthDefaulter sets defaults in Berth objects.
type BerthDefaulter struct{}

// Default sets the defaults of a Berth before it is validated and stored. It must
// be idempotent: a second call must not change anything.
func (d *BerthDefaulter) Default(_ context.Context, berth *portv1.Berth) error {
	// Your code goes here: set the missing fields of berth, such as
	//
	//	if berth.Spec.Foo == nil {
	//		berth.Spec.Foo = new("bar")
	//	}

	return nil
}

// Deletions are not validated. To validate them, write verbs=create;update;delete
// and implement ValidateDelete.
// +kubebuilder:webhook:path=/validate-port-example-org-v1-berth,mutating=false,failurePolicy=fail,sideEffects=None,groups=port.example.org,resources=berths,verbs=create;update,versions=v1,name=vberth-v1.kb.io,admissionReviewVersions=v1

// BerthValidator checks rules that the schema of Berth cannot express, such as
// rules about several fields.
type BerthValidator struct{}

// ValidateCreate validates a Berth before it is created.
func (v *BerthValidator) ValidateCreate(_ context.Context, berth *portv1.Berth) (admission.Warnings, error) {
	return nil, v.validate(berth)
}

// ValidateUpdate validates a Berth before it is updated. Compare before and after
// to reject changes of immutable fields.
func (v *BerthValidator) ValidateUpdate(_ context.Context, before, after *portv1.Berth) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// The object is being deleted: a rule that is newer than the object must not
		// prevent the removal of its finalizers.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete validates a Berth before it is deleted, if the marker above
// lists delete.
func (v *BerthValidator) ValidateDelete(context.Context, *portv1.Berth) (admission.Warnings, error) {
	return nil, nil
}

// validate returns all errors in a Berth, each with the path of the field.
func (v *BerthValidator) validate(berth *portv1.Berth) error {
	var errs field.ErrorList

	// Your code goes here: append an error for each invalid field of berth, such as
	//
	//	if foo := berth.Spec.Foo; foo != nil && *foo == "" {
	//		errs = append(errs, field.Invalid(field.NewPath("spec", "foo"), *foo, "must not be empty"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "port.example.org", Kind: "Berth"}, berth.Name, errs)
}
