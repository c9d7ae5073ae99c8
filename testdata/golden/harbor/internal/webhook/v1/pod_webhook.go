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

// podlog logs what concerns no single request; logf.FromContext(ctx) gives
// the logger of one.
var podlog = logf.Log.WithName("pod-resource")

// SetupPodWebhookWithManager serves the webhooks of Pod with mgr. The API
// server calls them before it stores an object.
func SetupPodWebhookWithManager(mgr ctrl.Manager) error {
	podlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &corev1.Pod{}).
		WithDefaulter(&PodCustomDefaulter{}).
		Complete()
}

// Others need pods also while the manager is away, which may itself need
// some to start: so the API server goes on without an answer. Limit the webhook to
// the namespaces or objects that it is for before you write failurePolicy=fail.
// +kubebuilder:webhook:path=/mutate--v1-pod,mutating=true,failurePolicy=ignore,sideEffects=None,groups="",resources=pods,verbs=create;update,versions=v1,name=mpod-v1.kb.io,admissionReviewVersions=v1

// PodCustomDefaulter fills in what was left out of a Pod.
type PodCustomDefaulter struct{}

// Default is called when a Pod is about to be created or updated, and
// before it is validated. What it changes in the object will be stored. Called
// again with the outcome, it must change nothing more.
func (d *PodCustomDefaulter) Default(_ context.Context, pod *corev1.Pod) error {
	// Your code goes here: set what is missing in pod, such as
	//
	//	if _, set := pod.Labels["team"]; !set {
	//		metav1.SetMetaDataLabel(&pod.ObjectMeta, "team", "nobody")
	//	}

	return nil
}
