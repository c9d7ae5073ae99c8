package ship

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	shipv1 "example.org/fleet/api/ship/v1"
)

// FrigateReconciler brings the world to what Frigate objects ask for.
type FrigateReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=frigates,verbs=get;list;watch
// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=frigates/status,verbs=patch

// Reconcile is called when the named Frigate may have changed. It compares
// what is with what the spec asks for, and may be called at any time and any
// number of times: a call that finds nothing to do must change nothing. It is
// called again, later and later, as long as it returns an error.
func (r *FrigateReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	frigate := &shipv1.Frigate{}
	if err := r.Get(ctx, req.NamespacedName, frigate); err != nil {
		// Not found: it was deleted after the event, and nothing is left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !frigate.DeletionTimestamp.IsZero() {
		// It is on its way out: whoever set a finalizer cleans up, and what it
		// owns is collected by Kubernetes.
		return ctrl.Result{}, nil
	}
	before := frigate.DeepCopy()
	if err := r.ensureConfigMap(ctx, frigate); err != nil {
		return ctrl.Result{}, err
	}

	// Your code goes here: bring the world to what frigate.Spec asks for, and
	// note in frigate.Status what you saw. Return errors that may pass.

	return ctrl.Result{}, r.setReady(ctx, before, frigate,
		metav1.ConditionTrue, "Reconciled", "the object is as its spec asks")
}

// setReady records the condition Ready, with a reason in one PascalCase word
// and a message for people, and writes the status as far as it differs from what
// it was before.
func (r *FrigateReconciler) setReady(
	ctx context.Context, before, frigate *shipv1.Frigate,
	status metav1.ConditionStatus, reason, message string,
) error {
	meta.SetStatusCondition(&frigate.Status.Conditions, metav1.Condition{
		Type:               "Ready",
		Status:             status,
		Reason:             reason,
		Message:            message,
		ObservedGeneration: frigate.Generation,
	})
	if equality.Semantic.DeepEqual(before.Status, frigate.Status) {
		return nil
	}
	// A merge patch replaces the whole list of conditions: the lock makes it
	// fail, and Reconcile run again, when another writer came first.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(r.Status().Patch(ctx, frigate, patch))
}

// SetupWithManager starts the controller with mgr, for every Frigate it sees.
func (r *FrigateReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&shipv1.Frigate{}).
		Owns(&corev1.ConfigMap{}).
		Named("ship-frigate").
		Complete(r)
}
