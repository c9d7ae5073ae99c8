package v1

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// podlog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var podlog = logf.Log.WithName("pod-resource")

// SetupPodWebhookWithManager serves the webhooks of Pod with mgr. The API
// server calls them before it stores an object.
func SetupPodWebhookWithManager(mgr ctrl.Manager) error {
	podlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &corev1.Pod{}).
		WithValidator(&PodValidator{}).
		Complete()
}

// Deletions are not validated. To validate them, write verbs=create;update;delete
// and implement ValidateDelete.
// The API server continues without the webhook while the manager is not available:
// other clients, and maybe the manager itself, need pods. Limit the webhook to
// certain namespaces or objects before you change this to failurePolicy=fail.
// +kubebuilder:webhook:path=/validate--v1-pod,mutating=false,failurePolicy=ignore,sideEffects=None,groups="",resources=pods,verbs=create;update,versions=v1,name=vpod-v1.kb.io,admissionReviewVersions=v1

// PodValidator checks rules that the schema of Pod cannot express, such as
// rules about several fields.
type PodValidator struct{}

// ValidateCreate validates a Pod before it is created.
func (v *PodValidator) ValidateCreate(_ context.Context, pod *corev1.Pod) (admission.Warnings, error) {
	return nil, v.validate(pod)
}

// ValidateUpdate validates a Pod before it is updated. Compare before and after
// to reject changes of immutable fields.
func (v *PodValidator) ValidateUpdate(_ context.Context, before, after *corev1.Pod) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// The object is being deleted: a rule that is newer than the object must not
		// prevent the removal of its finalizers.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete validates a Pod before it is deleted, if the marker above
// lists delete.
func (v *PodValidator) ValidateDelete(context.Context, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

// validate returns all errors in a Pod, each with the path of the field.
func (v *PodValidator) validate(pod *corev1.Pod) error {
	var errs field.ErrorList

	// Your code goes here: append an error for each invalid field of pod, such as
	//
	//	if pod.Labels["team"] == "" {
	//		errs = append(errs, field.Required(field.NewPath("metadata", "labels").Key("team"), "a team is required"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "", Kind: "Pod"}, pod.Name, errs)
}
