package v2

import (
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	shipv2 "example.org/fleet/api/ship/v2"
)

// frigatelog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var frigatelog = logf.Log.WithName("frigate-resource")

// SetupFrigateWebhookWithManager serves the webhooks of Frigate with mgr. The API
// server calls the webhooks that are added here before it stores an object. Conversion
// webhooks are served without a call here, if the types have conversions.
func SetupFrigateWebhookWithManager(mgr ctrl.Manager) error {
	frigatelog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &shipv2.Frigate{}).
		Complete()
}
