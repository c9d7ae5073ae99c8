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
	if aerospikecluster.Spec.Heartbeat.Interval == 0 {
		aerospikecluster.Spec.Heartbeat.Interval = 150
	}
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
