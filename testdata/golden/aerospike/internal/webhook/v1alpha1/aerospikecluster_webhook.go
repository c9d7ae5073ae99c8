/*
Copyright 2026 Dmitrii Zolotov.

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

	aerospikev1alpha1 "aerospike/api/v1alpha1"
)

// aerospikeclusterlog logs what concerns no single request; logf.FromContext(ctx) gives
// the logger of one.
var aerospikeclusterlog = logf.Log.WithName("aerospikecluster-resource")

// SetupAerospikeClusterWebhookWithManager serves the webhooks of AerospikeCluster with mgr. The API
// server calls those that are named here before it stores an object. A conversion
// needs no name: it is served as soon as the types have one.
func SetupAerospikeClusterWebhookWithManager(mgr ctrl.Manager) error {
	aerospikeclusterlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &aerospikev1alpha1.AerospikeCluster{}).
		WithDefaulter(&AerospikeClusterCustomDefaulter{}).
		WithValidator(&AerospikeClusterCustomValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-aerospike-dzolotov-tech-v1alpha1-aerospikecluster,mutating=true,failurePolicy=fail,sideEffects=None,groups=aerospike.dzolotov.tech,resources=aerospikeclusters,verbs=create;update,versions=v1alpha1,name=maerospikecluster-v1alpha1.kb.io,admissionReviewVersions=v1

// AerospikeClusterCustomDefaulter fills in what was left out of an AerospikeCluster.
type AerospikeClusterCustomDefaulter struct{}

// Default is called when an AerospikeCluster is about to be created or updated, and
// before it is validated. What it changes in the object will be stored. Called
// again with the outcome, it must change nothing more.
func (d *AerospikeClusterCustomDefaulter) Default(_ context.Context, aerospikecluster *aerospikev1alpha1.AerospikeCluster) error {
	// Your code goes here: set what is missing in aerospikecluster, such as
	//
	//	if aerospikecluster.Spec.Foo == nil {
	//		aerospikecluster.Spec.Foo = new("bar")
	//	}

	return nil
}

// Deletions are not validated. To change that, write verbs=create;update;delete
// and fill in ValidateDelete.
// +kubebuilder:webhook:path=/validate-aerospike-dzolotov-tech-v1alpha1-aerospikecluster,mutating=false,failurePolicy=fail,sideEffects=None,groups=aerospike.dzolotov.tech,resources=aerospikeclusters,verbs=create;update,versions=v1alpha1,name=vaerospikecluster-v1alpha1.kb.io,admissionReviewVersions=v1

// AerospikeClusterCustomValidator refuses what the schema of AerospikeCluster cannot: whatever takes
// more than one field, or more than a pattern, to tell.
type AerospikeClusterCustomValidator struct{}

// ValidateCreate is called when an AerospikeCluster is about to be created.
func (v *AerospikeClusterCustomValidator) ValidateCreate(_ context.Context, aerospikecluster *aerospikev1alpha1.AerospikeCluster) (admission.Warnings, error) {
	return nil, v.validate(aerospikecluster)
}

// ValidateUpdate is called when an AerospikeCluster is about to be updated. Rules about
// the change itself, such as fields that must not change, compare before and after.
func (v *AerospikeClusterCustomValidator) ValidateUpdate(_ context.Context, before, after *aerospikev1alpha1.AerospikeCluster) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// It is on its way out: a rule that is newer than the object must not
		// keep its finalizers from being removed.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete is called when an AerospikeCluster is about to be deleted, if the marker
// above asks for it.
func (v *AerospikeClusterCustomValidator) ValidateDelete(context.Context, *aerospikev1alpha1.AerospikeCluster) (admission.Warnings, error) {
	return nil, nil
}

// validate returns everything that is wrong with an AerospikeCluster at once, each with
// the path of its field.
func (v *AerospikeClusterCustomValidator) validate(aerospikecluster *aerospikev1alpha1.AerospikeCluster) error {
	var errs field.ErrorList

	// Your code goes here: append to errs what is wrong with aerospikecluster, such as
	//
	//	if foo := aerospikecluster.Spec.Foo; foo != nil && *foo == "" {
	//		errs = append(errs, field.Invalid(field.NewPath("spec", "foo"), *foo, "must not be empty"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "aerospike.dzolotov.tech", Kind: "AerospikeCluster"}, aerospikecluster.Name, errs)
}
