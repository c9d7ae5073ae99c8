package sea

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seav1beta1 "example.org/fleet/api/sea/v1beta1"
)

// NFSReconciler brings the world to what NFS objects ask for.
type NFSReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=sea.example.org,resources=nfs,verbs=get;list;watch
// +kubebuilder:rbac:groups=sea.example.org,resources=nfs/status,verbs=patch

// Reconcile is called when the named NFS may have changed. It compares
// what is with what the spec asks for, and may be called at any time and any
// number of times: a call that finds nothing to do must change nothing. It is
// called again, later and later, as long as it returns an error.
func (r *NFSReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	nfs := &seav1beta1.NFS{}
	if err := r.Get(ctx, req.NamespacedName, nfs); err != nil {
		// Not found: it was deleted after the event, and nothing is left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.finalize(ctx, nfs, r.cleanUp); err != nil {
		return ctrl.Result{}, err
	}
	if !nfs.DeletionTimestamp.IsZero() {
		// It is on its way out: whoever set a finalizer cleans up, and what it
		// owns is collected by Kubernetes.
		return ctrl.Result{}, nil
	}
	before := nfs.DeepCopy()

	// Your code goes here: bring the world to what nfs.Spec asks for, and
	// note in nfs.Status what you saw. Return errors that may pass.

	return ctrl.Result{}, r.setReady(ctx, before, nfs,
		metav1.ConditionTrue, "Reconciled", "the object is as its spec asks")
}

// setReady records the condition Ready, with a reason in one PascalCase word
// and a message for people, and writes the status as far as it differs from what
// it was before.
func (r *NFSReconciler) setReady(
	ctx context.Context, before, nfs *seav1beta1.NFS,
	status metav1.ConditionStatus, reason, message string,
) error {
	meta.SetStatusCondition(&nfs.Status.Conditions, metav1.Condition{
		Type:               "Ready",
		Status:             status,
		Reason:             reason,
		Message:            message,
		ObservedGeneration: nfs.Generation,
	})
	if equality.Semantic.DeepEqual(before.Status, nfs.Status) {
		return nil
	}
	// A merge patch replaces the whole list of conditions: the lock makes it
	// fail, and Reconcile run again, when another writer came first.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(r.Status().Patch(ctx, nfs, patch))
}

// SetupWithManager starts the controller with mgr, for every NFS it sees.
func (r *NFSReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&seav1beta1.NFS{}).
		Named("sea-nfs").
		Complete(r)
}
