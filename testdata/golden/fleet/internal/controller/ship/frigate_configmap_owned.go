package ship

import (
	"context"

	shipv1 "example.org/fleet/api/ship/v1"
)

// Reads come from a cache that lists and watches. Where the API server enforces
// it, to own objects takes the right to update the finalizers of the owner.
// +kubebuilder:rbac:groups=core,namespace=fleet-system,resources=configmaps,verbs=list;watch;create;update
// +kubebuilder:rbac:groups=ship.example.org,namespace=fleet-system,resources=frigates/finalizers,verbs=update

// ensureConfigMap brings what frigate owns of the kind ConfigMap to what its spec
// asks for. Reconcile calls it, also after every change of an owned object, which
// Kubernetes removes together with frigate.
//
// Your code goes here. For a ConfigMap of the same name:
//
//	configmap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
//		Namespace: frigate.Namespace,
//		Name:      frigate.Name,
//	}}
//	return own(ctx, r.Client, frigate, configmap, func() error {
//		// Set the fields of configmap that frigate.Spec decides about.
//		return nil
//	})
func (r *FrigateReconciler) ensureConfigMap(ctx context.Context, frigate *shipv1.Frigate) error {
	return nil
}
