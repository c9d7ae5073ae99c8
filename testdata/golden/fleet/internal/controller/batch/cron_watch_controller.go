package batch

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "k8s.io/api/batch/v1"
)

// CronWatchReconciler acts on CronJob objects, which others define and write.
type CronWatchReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// Add the verbs that your code comes to use, and the resources.
// +kubebuilder:rbac:groups=batch,namespace=fleet-system,resources=cronjobs,verbs=get;list;watch

// Reconcile is called when the named CronJob may have changed. It may be called
// at any time and any number of times: a call that finds nothing to do must
// change nothing. It is called again, later and later, as long as it returns an
// error.
func (r *CronWatchReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cronjob := &batchv1.CronJob{}
	if err := r.Get(ctx, req.NamespacedName, cronjob); err != nil {
		// Not found: it was deleted after the event, and nothing is left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	// Your code goes here. Other controllers write this object too: patch the
	// fields that are yours, and leave the others alone.

	return ctrl.Result{}, nil
}

// SetupWithManager starts the controller with mgr, for every CronJob it sees.
func (r *CronWatchReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&batchv1.CronJob{}).
		Named("batch-cron-watch").
		Complete(r)
}
