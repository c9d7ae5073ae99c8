package v1beta1

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	seav1beta1 "example.org/fleet/api/sea/v1beta1"
)

// nfslog logs what concerns no single request; logf.FromContext(ctx) gives
// the logger of one.
var nfslog = logf.Log.WithName("nfs-resource")

// SetupNFSWebhookWithManager serves the webhooks of NFS with mgr. The API
// server calls those that are named here before it stores an object. A conversion
// needs no name: it is served as soon as the types have one.
func SetupNFSWebhookWithManager(mgr ctrl.Manager) error {
	nfslog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &seav1beta1.NFS{}).
		WithValidator(&NFSCustomValidator{}).
		Complete()
}

// Deletions are not validated. To change that, write verbs=create;update;delete
// and fill in ValidateDelete.
// +kubebuilder:webhook:path=/validate-sea-example-org-v1beta1-nfs,mutating=false,failurePolicy=fail,sideEffects=None,groups=sea.example.org,resources=nfs,verbs=create;update,versions=v1beta1,name=vnfs-v1beta1.kb.io,admissionReviewVersions=v1

// NFSCustomValidator refuses what the schema of NFS cannot: whatever takes
// more than one field, or more than a pattern, to tell.
type NFSCustomValidator struct{}

// ValidateCreate is called when an NFS is about to be created.
func (v *NFSCustomValidator) ValidateCreate(_ context.Context, nfs *seav1beta1.NFS) (admission.Warnings, error) {
	return nil, v.validate(nfs)
}

// ValidateUpdate is called when an NFS is about to be updated. Rules about
// the change itself, such as fields that must not change, compare before and after.
func (v *NFSCustomValidator) ValidateUpdate(_ context.Context, before, after *seav1beta1.NFS) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// It is on its way out: a rule that is newer than the object must not
		// keep its finalizers from being removed.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete is called when an NFS is about to be deleted, if the marker
// above asks for it.
func (v *NFSCustomValidator) ValidateDelete(context.Context, *seav1beta1.NFS) (admission.Warnings, error) {
	return nil, nil
}

// validate returns everything that is wrong with an NFS at once, each with
// the path of its field.
func (v *NFSCustomValidator) validate(nfs *seav1beta1.NFS) error {
	var errs field.ErrorList

	// Your code goes here: append to errs what is wrong with nfs, such as
	//
	//	if foo := nfs.Spec.Foo; foo != nil && *foo == "" {
	//		errs = append(errs, field.Invalid(field.NewPath("spec", "foo"), *foo, "must not be empty"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "sea.example.org", Kind: "NFS"}, nfs.Name, errs)
}
