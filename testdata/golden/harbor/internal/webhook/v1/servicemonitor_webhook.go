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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
)

// servicemonitorlog logs what concerns no single request; logf.FromContext(ctx) gives
// the logger of one.
var servicemonitorlog = logf.Log.WithName("servicemonitor-resource")

// SetupServiceMonitorWebhookWithManager serves the webhooks of ServiceMonitor with mgr. The API
// server calls them before it stores an object.
func SetupServiceMonitorWebhookWithManager(mgr ctrl.Manager) error {
	servicemonitorlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &monitoringv1.ServiceMonitor{}).
		WithValidator(&ServiceMonitorCustomValidator{}).
		Complete()
}

// Deletions are not validated. To change that, write verbs=create;update;delete
// and fill in ValidateDelete.
// Others need servicemonitors also while the manager is away, which may itself need
// some to start: so the API server goes on without an answer. Limit the webhook to
// the namespaces or objects that it is for before you write failurePolicy=fail.
// +kubebuilder:webhook:path=/validate-monitoring-coreos-com-v1-servicemonitor,mutating=false,failurePolicy=ignore,sideEffects=None,groups=monitoring.coreos.com,resources=servicemonitors,verbs=create;update,versions=v1,name=vservicemonitor-v1.kb.io,admissionReviewVersions=v1

// ServiceMonitorCustomValidator refuses what the schema of ServiceMonitor cannot: whatever takes
// more than one field, or more than a pattern, to tell.
type ServiceMonitorCustomValidator struct{}

// ValidateCreate is called when a ServiceMonitor is about to be created.
func (v *ServiceMonitorCustomValidator) ValidateCreate(_ context.Context, servicemonitor *monitoringv1.ServiceMonitor) (admission.Warnings, error) {
	return nil, v.validate(servicemonitor)
}

// ValidateUpdate is called when a ServiceMonitor is about to be updated. Rules about
// the change itself, such as fields that must not change, compare before and after.
func (v *ServiceMonitorCustomValidator) ValidateUpdate(_ context.Context, before, after *monitoringv1.ServiceMonitor) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// It is on its way out: a rule that is newer than the object must not
		// keep its finalizers from being removed.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete is called when a ServiceMonitor is about to be deleted, if the marker
// above asks for it.
func (v *ServiceMonitorCustomValidator) ValidateDelete(context.Context, *monitoringv1.ServiceMonitor) (admission.Warnings, error) {
	return nil, nil
}

// validate returns everything that is wrong with a ServiceMonitor at once, each with
// the path of its field.
func (v *ServiceMonitorCustomValidator) validate(servicemonitor *monitoringv1.ServiceMonitor) error {
	var errs field.ErrorList

	// Your code goes here: append to errs what is wrong with servicemonitor, such as
	//
	//	if servicemonitor.Labels["team"] == "" {
	//		errs = append(errs, field.Required(field.NewPath("metadata", "labels").Key("team"), "say whose it is"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "monitoring.coreos.com", Kind: "ServiceMonitor"}, servicemonitor.Name, errs)
}
