package v1

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	seav1 "example.org/fleet/api/sea/v1"
)

// frigatelog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var frigatelog = logf.Log.WithName("frigate-resource")

// SetupFrigateWebhookWithManager serves the webhooks of Frigate with mgr. The API
// server calls the webhooks that are added here before it stores an object. Conversion
// webhooks are served without a call here, if the types have conversions.
func SetupFrigateWebhookWithManager(mgr ctrl.Manager) error {
	frigatelog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &seav1.Frigate{}).
		WithDefaulter(&FrigateDefaulter{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-sea-example-org-v1-frigate,mutating=true,failurePolicy=fail,sideEffects=None,groups=sea.example.org,resources=frigates,verbs=create;update,versions=v1,name=mfrigate-v1.sea.example.org.kb.io,admissionReviewVersions=v1

// FrigateDefaulter sets defaults in Frigate objects.
type FrigateDefaulter struct{}

// Default sets the defaults of a Frigate before it is validated and stored. It must
// be idempotent: a second call must not change anything.
func (d *FrigateDefaulter) Default(_ context.Context, frigate *seav1.Frigate) error {
	// Your code goes here: set the missing fields of frigate, such as
	//
	//	if frigate.Spec.Foo == nil {
	//		frigate.Spec.Foo = new("bar")
	//	}

	return nil
}
