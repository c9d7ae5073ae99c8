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

// aerospikeclusterlog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var aerospikeclusterlog = logf.Log.WithName("aerospikecluster-resource")

// SetupAerospikeClusterWebhookWithManager serves the webhooks of AerospikeCluster with mgr. The API
// server calls those that are named here before it stores an object. A conversion
// needs no name: it is served as soon as the types have one.
func SetupAerospikeClusterWebhookWithManager(mgr ctrl.Manager) error {
	aerospikeclusterlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &aerospikev1alpha1.AerospikeCluster{}).
		WithDefaulter(&AerospikeClusterDefaulter{}).
		WithValidator(&AerospikeClusterValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-aerospike-dzolotov-tech-v1alpha1-aerospikecluster,mutating=true,failurePolicy=fail,sideEffects=None,groups=aerospike.dzolotov.tech,resources=aerospikeclusters,verbs=create;update,versions=v1alpha1,name=maerospikecluster-v1alpha1.kb.io,admissionReviewVersions=v1

// AerospikeClusterDefaulter sets defaults in AerospikeCluster objects.
type AerospikeClusterDefaulter struct{}

// Default sets the defaults of an AerospikeCluster before it is validated and stored. It must
// be idempotent: a second call must not change anything.
func (d *AerospikeClusterDefaulter) Default(_ context.Context, aerospikecluster *aerospikev1alpha1.AerospikeCluster) error {
	if aerospikecluster.Spec.Heartbeat.Interval == 0 {
		aerospikecluster.Spec.Heartbeat.Interval = 150
	}
	return nil
}

// Deletions are not validated. To validate them, write verbs=create;update;delete
// and implement ValidateDelete.
// +kubebuilder:webhook:path=/validate-aerospike-dzolotov-tech-v1alpha1-aerospikecluster,mutating=false,failurePolicy=fail,sideEffects=None,groups=aerospike.dzolotov.tech,resources=aerospikeclusters,verbs=create;update,versions=v1alpha1,name=vaerospikecluster-v1alpha1.kb.io,admissionReviewVersions=v1

// AerospikeClusterValidator checks rules that the schema of AerospikeCluster cannot express, such as
// rules about several fields.
type AerospikeClusterValidator struct{}

// ValidateCreate validates an AerospikeCluster before it is created.
func (v *AerospikeClusterValidator) ValidateCreate(_ context.Context, aerospikecluster *aerospikev1alpha1.AerospikeCluster) (admission.Warnings, error) {
	return nil, v.validate(aerospikecluster)
}

// ValidateUpdate validates an AerospikeCluster before it is updated. Compare before and after
// to reject changes of immutable fields.
func (v *AerospikeClusterValidator) ValidateUpdate(_ context.Context, before, after *aerospikev1alpha1.AerospikeCluster) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// The object is being deleted: a rule that is newer than the object must not
		// prevent the removal of its finalizers.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete validates an AerospikeCluster before it is deleted, if the marker above
// lists delete.
func (v *AerospikeClusterValidator) ValidateDelete(context.Context, *aerospikev1alpha1.AerospikeCluster) (admission.Warnings, error) {
	return nil, nil
}

// validate returns all errors in an AerospikeCluster, each with the path of the field.
func (v *AerospikeClusterValidator) validate(aerospikecluster *aerospikev1alpha1.AerospikeCluster) error {
	var errs field.ErrorList
	spec, path := &aerospikecluster.Spec, field.NewPath("spec")
	if spec.Deployments < 1 {
		errs = append(errs, field.Invalid(path.Child("deployments"), spec.Deployments, "must be 1 or more"))
	}
	if spec.ReplicationFactor > spec.Deployments {
		errs = append(errs, field.Invalid(path.Child("replicationFactor"), spec.ReplicationFactor, "must not exceed deployments"))
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "aerospike.dzolotov.tech", Kind: "AerospikeCluster"}, aerospikecluster.Name, errs)
}
