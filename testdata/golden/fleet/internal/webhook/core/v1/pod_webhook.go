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

// podlog logs what concerns no single request; logf.FromContext(ctx) gives
// the logger of one.
var podlog = logf.Log.WithName("pod-resource")

// SetupPodWebhookWithManager serves the webhooks of Pod with mgr. The API
// server calls them before it stores an object.
func SetupPodWebhookWithManager(mgr ctrl.Manager) error {
	podlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &corev1.Pod{}).
		WithValidator(&PodCustomValidator{}).
		Complete()
}

// Deletions are not validated. To change that, write verbs=create;update;delete
// and fill in ValidateDelete.
// Others need pods also while the manager is away, which may itself need
// some to start: so the API server goes on without an answer. Limit the webhook to
// the namespaces or objects that it is for before you write failurePolicy=fail.
// +kubebuilder:webhook:path=/validate--v1-pod,mutating=false,failurePolicy=ignore,sideEffects=None,groups="",resources=pods,verbs=create;update,versions=v1,name=vpod-v1.kb.io,admissionReviewVersions=v1

// PodCustomValidator refuses what the schema of Pod cannot: whatever takes
// more than one field, or more than a pattern, to tell.
type PodCustomValidator struct{}

// ValidateCreate is called when a Pod is about to be created.
func (v *PodCustomValidator) ValidateCreate(_ context.Context, pod *corev1.Pod) (admission.Warnings, error) {
	return nil, v.validate(pod)
}

// ValidateUpdate is called when a Pod is about to be updated. Rules about
// the change itself, such as fields that must not change, compare before and after.
func (v *PodCustomValidator) ValidateUpdate(_ context.Context, before, after *corev1.Pod) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// It is on its way out: a rule that is newer than the object must not
		// keep its finalizers from being removed.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete is called when a Pod is about to be deleted, if the marker
// above asks for it.
func (v *PodCustomValidator) ValidateDelete(context.Context, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

// validate returns everything that is wrong with a Pod at once, each with
// the path of its field.
func (v *PodCustomValidator) validate(pod *corev1.Pod) error {
	var errs field.ErrorList

	// Your code goes here: append to errs what is wrong with pod, such as
	//
	//	if pod.Labels["team"] == "" {
	//		errs = append(errs, field.Required(field.NewPath("metadata", "labels").Key("team"), "say whose it is"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "", Kind: "Pod"}, pod.Name, errs)
}
