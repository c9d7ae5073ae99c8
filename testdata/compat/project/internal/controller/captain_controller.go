/*
Copyright 2024.
*/

package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	crewv1 "example.org/fleet/api/v1"
)

// CaptainReconciler reconciles a Captain object.
type CaptainReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

//+kubebuilder:rbac:groups=crew.example.org,resources=captains,verbs=get;list;watch;create;update;patch;delete
//+kubebuilder:rbac:groups=crew.example.org,resources=captains/status,verbs=get;update;patch
//+kubebuilder:rbac:groups=crew.example.org,resources=captains/finalizers,verbs=update

// Reconcile moves the state of the cluster closer to the desired state.
func (r *CaptainReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	_ = log.FromContext(ctx)

	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *CaptainReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&crewv1.Captain{}).
		Complete(r)
}
