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

// servicemonitorlog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var servicemonitorlog = logf.Log.WithName("servicemonitor-resource")

// SetupServiceMonitorWebhookWithManager serves the webhooks of ServiceMonitor with mgr. The API
// server calls them before it stores an object.
func SetupServiceMonitorWebhookWithManager(mgr ctrl.Manager) error {
	servicemonitorlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &monitoringv1.ServiceMonitor{}).
		WithValidator(&ServiceMonitorValidator{}).
		Complete()
}

// Deletions are not validated. To validate them, write verbs=create;update;delete
// and implement ValidateDelete.
// The API server continues without the webhook while the manager is not available:
// other clients, and maybe the manager itself, need servicemonitors. Limit the webhook to
// certain namespaces or objects before you change this to failurePolicy=fail.
// +kubebuilder:webhook:path=/validate-monitoring-coreos-com-v1-servicemonitor,mutating=false,failurePolicy=ignore,sideEffects=None,groups=monitoring.coreos.com,resources=servicemonitors,verbs=create;update,versions=v1,name=vservicemonitor-v1.kb.io,admissionReviewVersions=v1

// ServiceMonitorValidator checks rules that the schema of ServiceMonitor cannot express, such as
// rules about several fields.
type ServiceMonitorValidator struct{}

// ValidateCreate validates a ServiceMonitor before it is created.
func (v *ServiceMonitorValidator) ValidateCreate(_ context.Context, servicemonitor *monitoringv1.ServiceMonitor) (admission.Warnings, error) {
	return nil, v.validate(servicemonitor)
}

// ValidateUpdate validates a ServiceMonitor before it is updated. Compare before and after
// to reject changes of immutable fields.
func (v *ServiceMonitorValidator) ValidateUpdate(_ context.Context, before, after *monitoringv1.ServiceMonitor) (admission.Warnings, error) {
	if !after.DeletionTimestamp.IsZero() {
		// The object is being deleted: a rule that is newer than the object must not
		// prevent the removal of its finalizers.
		return nil, nil
	}
	return nil, v.validate(after)
}

// ValidateDelete validates a ServiceMonitor before it is deleted, if the marker above
// lists delete.
func (v *ServiceMonitorValidator) ValidateDelete(context.Context, *monitoringv1.ServiceMonitor) (admission.Warnings, error) {
	return nil, nil
}

// validate returns all errors in a ServiceMonitor, each with the path of the field.
func (v *ServiceMonitorValidator) validate(servicemonitor *monitoringv1.ServiceMonitor) error {
	var errs field.ErrorList

	// Your code goes here: append an error for each invalid field of servicemonitor, such as
	//
	//	if servicemonitor.Labels["team"] == "" {
	//		errs = append(errs, field.Required(field.NewPath("metadata", "labels").Key("team"), "a team is required"))
	//	}

	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "monitoring.coreos.com", Kind: "ServiceMonitor"}, servicemonitor.Name, errs)
}
