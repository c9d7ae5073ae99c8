package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	aerospikev1alpha1 "aerospike/api/v1alpha1"
)

// configFile is the key of the configuration in the ConfigMap, and its file name.
const configFile = "aerospike.conf"

// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=list;watch;create;update
// +kubebuilder:rbac:groups=aerospike.dzolotov.tech,resources=aerospikeclusters/finalizers,verbs=update

// ensureConfigMap creates or updates the ConfigMap with the configuration file of the nodes.
func (r *AerospikeClusterReconciler) ensureConfigMap(ctx context.Context, aerospikecluster *aerospikev1alpha1.AerospikeCluster) error {
	configmap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: aerospikecluster.Namespace,
		Name:      aerospikecluster.Name,
	}}
	return own(ctx, r.Client, aerospikecluster, configmap, func() error {
		spec := &aerospikecluster.Spec
		configmap.Data = map[string]string{configFile: fmt.Sprintf(`network {
  heartbeat {
    interval %d
  }
}
namespace main {
  replication-factor %d
  strong-consistency %t
}
`, spec.Heartbeat.Interval, spec.ReplicationFactor, spec.StrongConsistency)}
		return nil
	})
}
