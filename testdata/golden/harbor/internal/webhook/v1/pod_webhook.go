/*
Copyright 2026.

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

package v1

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// podlog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var podlog = logf.Log.WithName("pod-resource")

// SetupPodWebhookWithManager serves the webhooks of Pod with mgr. The API
// server calls them before it stores an object.
func SetupPodWebhookWithManager(mgr ctrl.Manager) error {
	podlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &corev1.Pod{}).
		WithDefaulter(&PodDefaulter{}).
		Complete()
}

// The API server continues without the webhook while the manager is not available:
// other clients, and maybe the manager itself, need pods. Limit the webhook to
// certain namespaces or objects before you change this to failurePolicy=fail.
// +kubebuilder:webhook:path=/mutate--v1-pod,mutating=true,failurePolicy=ignore,sideEffects=None,groups="",resources=pods,verbs=create;update,versions=v1,name=mpod-v1.kb.io,admissionReviewVersions=v1

// PodDefaulter sets defaults in Pod objects.
type PodDefaulter struct{}

// Default sets the defaults of a Pod before it is validated and stored. It must
// be idempotent: a second call must not change anything.
func (d *PodDefaulter) Default(_ context.Context, pod *corev1.Pod) error {
	// Your code goes here: set the missing fields of pod, such as
	//
	//	if _, set := pod.Labels["team"]; !set {
	//		metav1.SetMetaDataLabel(&pod.ObjectMeta, "team", "nobody")
	//	}

	return nil
}
