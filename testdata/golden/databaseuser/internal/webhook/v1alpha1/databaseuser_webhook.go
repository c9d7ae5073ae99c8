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

package v1alpha1

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	mygroupv1alpha1 "handsomeguy.cn/databaseuser/api/v1alpha1"
)

// databaseuserlog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var databaseuserlog = logf.Log.WithName("databaseuser-resource")

// SetupDatabaseUserWebhookWithManager serves the webhooks of DatabaseUser with mgr. The API
// server calls the webhooks that are added here before it stores an object. Conversion
// webhooks are served without a call here, if the types have conversions.
func SetupDatabaseUserWebhookWithManager(mgr ctrl.Manager) error {
	databaseuserlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &mygroupv1alpha1.DatabaseUser{}).
		WithValidator(&DatabaseUserValidator{}).
		Complete()
}

// Deletions are not validated. To validate them, write verbs=create;update;delete
// and implement ValidateDelete.
// +kubebuilder:webhook:path=/validate-mygroup-handsomeguy-cn-v1alpha1-databaseuser,mutating=false,failurePolicy=fail,sideEffects=None,groups=mygroup.handsomeguy.cn,resources=databaseusers,verbs=create;update,versions=v1alpha1,name=vdatabaseuser-v1alpha1.kb.io,admissionReviewVersions=v1

// DatabaseUserValidator checks rules that the schema of DatabaseUser cannot express, such as
// rules about several fields.
type DatabaseUserValidator struct{}

// ValidateCreate validates a DatabaseUser before it is created.
func (v *DatabaseUserValidator) ValidateCreate(_ context.Context, databaseuser *mygroupv1alpha1.DatabaseUser) (admission.Warnings, error) {
	return nil, v.validate(databaseuser)
}

// ValidateUpdate validates a DatabaseUser before it is updated. Compare before and after
// to reject changes of immutable fields.
func (v *DatabaseUserValidator) ValidateUpdate(_ context.Context, before, after *mygroupv1alpha1.DatabaseUser) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// The object is being deleted: a rule that is newer than the object must not
		// prevent the removal of its finalizers.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete validates a DatabaseUser before it is deleted, if the marker above
// lists delete.
func (v *DatabaseUserValidator) ValidateDelete(context.Context, *mygroupv1alpha1.DatabaseUser) (admission.Warnings, error) {
	return nil, nil
}

// validate returns all errors in a DatabaseUser, each with the path of the field.
func (v *DatabaseUserValidator) validate(databaseuser *mygroupv1alpha1.DatabaseUser) error {
	var errs field.ErrorList

	// Your code goes here: append an error for each invalid field of databaseuser, such as
	//
	//	if foo := databaseuser.Spec.Foo; foo != nil && *foo == "" {
	//		errs = append(errs, field.Invalid(field.NewPath("spec", "foo"), *foo, "must not be empty"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "mygroup.handsomeguy.cn", Kind: "DatabaseUser"}, databaseuser.Name, errs)
}
