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

package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
)

// ServiceMonitorReconciler reconciles ServiceMonitor objects, which this project does not define.
type ServiceMonitorReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// Add the resources and verbs that your code needs.
// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=servicemonitors,verbs=get;list;watch

// Reconcile runs when the named ServiceMonitor may have changed. It may run at any time
// and more than once, so it must not change anything if there is nothing to do. If
// it returns an error, it runs again with increasing delay.
func (r *ServiceMonitorReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	servicemonitor := &monitoringv1.ServiceMonitor{}
	if err := r.Get(ctx, req.NamespacedName, servicemonitor); err != nil {
		// Not found: the object was deleted after the event. There is nothing to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	// Your code goes here. Other controllers also write this object: patch only the
	// fields that belong to this controller.

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller for ServiceMonitor objects with mgr.
func (r *ServiceMonitorReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&monitoringv1.ServiceMonitor{}).
		Named("servicemonitor").
		Complete(r)
}
