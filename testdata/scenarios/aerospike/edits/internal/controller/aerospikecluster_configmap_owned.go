package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	aerospikev1alpha1 "aerospike/api/v1alpha1"
)

// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=list;watch;create;update
// +kubebuilder:rbac:groups=aerospike.dzolotov.tech,resources=aerospikeclusters/finalizers,verbs=update

// ensureConfigMap keeps the configuration file of the nodes.
func (r *AerospikeClusterReconciler) ensureConfigMap(ctx context.Context, aerospikecluster *aerospikev1alpha1.AerospikeCluster) error {
	configmap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: aerospikecluster.Namespace,
		Name:      aerospikecluster.Name,
	}}
	return own(ctx, r.Client, aerospikecluster, configmap, func() error {
		configmap.Data = map[string]string{
			"aerospike.conf": fmt.Sprintf("namespace main {\n  replication-factor %d\n}\n", aerospikecluster.Spec.ReplicationFactor),
		}
		return nil
	})
}
