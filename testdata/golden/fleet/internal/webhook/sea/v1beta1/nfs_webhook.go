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

// nfslog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var nfslog = logf.Log.WithName("nfs-resource")

// SetupNFSWebhookWithManager serves the webhooks of NFS with mgr. The API
// server calls the webhooks that are added here before it stores an object. Conversion
// webhooks are served without a call here, if the types have conversions.
func SetupNFSWebhookWithManager(mgr ctrl.Manager) error {
	nfslog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &seav1beta1.NFS{}).
		WithValidator(&NFSValidator{}).
		Complete()
}

// Deletions are not validated. To validate them, write verbs=create;update;delete
// and implement ValidateDelete.
// +kubebuilder:webhook:path=/validate-sea-example-org-v1beta1-nfs,mutating=false,failurePolicy=fail,sideEffects=None,groups=sea.example.org,resources=nfs,verbs=create;update,versions=v1beta1,name=vnfs-v1beta1.kb.io,admissionReviewVersions=v1

// NFSValidator checks rules that the schema of NFS cannot express, such as
// rules about several fields.
type NFSValidator struct{}

// ValidateCreate validates an NFS before it is created.
func (v *NFSValidator) ValidateCreate(_ context.Context, nfs *seav1beta1.NFS) (admission.Warnings, error) {
	return nil, v.validate(nfs)
}

// ValidateUpdate validates an NFS before it is updated. Compare before and after
// to reject changes of immutable fields.
func (v *NFSValidator) ValidateUpdate(_ context.Context, before, after *seav1beta1.NFS) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// The object is being deleted: a rule that is newer than the object must not
		// prevent the removal of its finalizers.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete validates an NFS before it is deleted, if the marker above
// lists delete.
func (v *NFSValidator) ValidateDelete(context.Context, *seav1beta1.NFS) (admission.Warnings, error) {
	return nil, nil
}

// validate returns all errors in an NFS, each with the path of the field.
func (v *NFSValidator) validate(nfs *seav1beta1.NFS) error {
	var errs field.ErrorList

	// Your code goes here: append an error for each invalid field of nfs, such as
	//
	//	if foo := nfs.Spec.Foo; foo != nil && *foo == "" {
	//		errs = append(errs, field.Invalid(field.NewPath("spec", "foo"), *foo, "must not be empty"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "sea.example.org", Kind: "NFS"}, nfs.Name, errs)
}
