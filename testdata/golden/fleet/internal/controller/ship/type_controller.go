package ship

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	shipv1 "example.org/fleet/api/ship/v1"
)

// TypeReconciler brings the world to what Type objects ask for.
type TypeReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=types,verbs=get;list;watch
// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=types/status,verbs=patch

// Reconcile is called when the named Type may have changed. It compares
// what is with what the spec asks for, and may be called at any time and any
// number of times: a call that finds nothing to do must change nothing. It is
// called again, later and later, as long as it returns an error.
func (r *TypeReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	typeObj := &shipv1.Type{}
	if err := r.Get(ctx, req.NamespacedName, typeObj); err != nil {
		// Not found: it was deleted after the event, and nothing is left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !typeObj.DeletionTimestamp.IsZero() {
		// It is on its way out: whoever set a finalizer cleans up, and what it
		// owns is collected by Kubernetes.
		return ctrl.Result{}, nil
	}
	before := typeObj.DeepCopy()

	// Your code goes here: bring the world to what typeObj.Spec asks for, and
	// note in typeObj.Status what you saw. Return errors that may pass.

	return ctrl.Result{}, r.setReady(ctx, before, typeObj,
		metav1.ConditionTrue, "Reconciled", "the object is as its spec asks")
}

// setReady records the condition Ready, with a reason in one PascalCase word
// and a message for people, and writes the status as far as it differs from what
// it was before.
func (r *TypeReconciler) setReady(
	ctx context.Context, before, typeObj *shipv1.Type,
	status metav1.ConditionStatus, reason, message string,
) error {
	meta.SetStatusCondition(&typeObj.Status.Conditions, metav1.Condition{
		Type:               "Ready",
		Status:             status,
		Reason:             reason,
		Message:            message,
		ObservedGeneration: typeObj.Generation,
	})
	if equality.Semantic.DeepEqual(before.Status, typeObj.Status) {
		return nil
	}
	// A merge patch replaces the whole list of conditions: the lock makes it
	// fail, and Reconcile run again, when another writer came first.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(r.Status().Patch(ctx, typeObj, patch))
}

// SetupWithManager starts the controller with mgr, for every Type it sees.
func (r *TypeReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&shipv1.Type{}).
		Named("ship-type").
		Complete(r)
}
