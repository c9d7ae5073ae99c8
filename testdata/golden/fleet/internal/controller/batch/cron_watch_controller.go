package batch

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "k8s.io/api/batch/v1"
)

// CronWatchReconciler reconciles CronJob objects, which this project does not define.
type CronWatchReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// Add the resources and verbs that your code needs.
// +kubebuilder:rbac:groups=batch,namespace=fleet-system,resources=cronjobs,verbs=get;list;watch

// Reconcile runs when the named CronJob may have changed. It may run at any time
// and more than once, so it must not change anything if there is nothing to do. If
// it returns an error, it runs again with increasing delay.
func (r *CronWatchReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cronjob := &batchv1.CronJob{}
	if err := r.Get(ctx, req.NamespacedName, cronjob); err != nil {
		// Not found: the object was deleted after the event. There is nothing to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	// Your code goes here. Other controllers also write this object: patch only the
	// fields that belong to this controller.

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller for CronJob objects with mgr.
func (r *CronWatchReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&batchv1.CronJob{}).
		Named("batch-cron-watch").
		Complete(r)
}
