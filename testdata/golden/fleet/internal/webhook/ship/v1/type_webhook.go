package v1

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	shipv1 "example.org/fleet/api/ship/v1"
)

// typelog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var typelog = logf.Log.WithName("type-resource")

// SetupTypeWebhookWithManager serves the webhooks of Type with mgr. The API
// server calls the webhooks that are added here before it stores an object. Conversion
// webhooks are served without a call here, if the types have conversions.
func SetupTypeWebhookWithManager(mgr ctrl.Manager) error {
	typelog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &shipv1.Type{}).
		WithDefaulter(&TypeDefaulter{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-ship-example-org-v1-type,mutating=true,failurePolicy=fail,sideEffects=None,groups=ship.example.org,resources=types,verbs=create;update,versions=v1,name=mtype-v1.kb.io,admissionReviewVersions=v1

// TypeDefaulter sets defaults in Type objects.
type TypeDefaulter struct{}

// Default sets the defaults of a Type before it is validated and stored. It must
// be idempotent: a second call must not change anything.
func (d *TypeDefaulter) Default(_ context.Context, typeObj *shipv1.Type) error {
	// Your code goes here: set the missing fields of typeObj, such as
	//
	//	if typeObj.Spec.Foo == nil {
	//		typeObj.Spec.Foo = new("bar")
	//	}

	return nil
}
