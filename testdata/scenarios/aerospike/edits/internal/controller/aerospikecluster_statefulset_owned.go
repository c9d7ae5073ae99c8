package controller

import (
	"context"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	aerospikev1alpha1 "aerospike/api/v1alpha1"
)

// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=list;watch;create;update
// +kubebuilder:rbac:groups=aerospike.dzolotov.tech,resources=aerospikeclusters/finalizers,verbs=update

// ensureStatefulSet keeps the nodes, and notes how many of them work.
func (r *AerospikeClusterReconciler) ensureStatefulSet(ctx context.Context, aerospikecluster *aerospikev1alpha1.AerospikeCluster) error {
	statefulset := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: aerospikecluster.Namespace,
		Name:      aerospikecluster.Name,
	}}
	err := own(ctx, r.Client, aerospikecluster, statefulset, func() error {
		labels := map[string]string{"aerospike": aerospikecluster.Name}
		statefulset.Spec.Replicas = new(int32(aerospikecluster.Spec.Deployments))
		statefulset.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		statefulset.Spec.Template.Labels = labels
		if len(statefulset.Spec.Template.Spec.Containers) == 0 {
			statefulset.Spec.Template.Spec.Containers = make([]corev1.Container, 1)
		}
		node := &statefulset.Spec.Template.Spec.Containers[0]
		node.Name, node.Image = "aerospike", "aerospike/aerospike-server"
		node.Env = []corev1.EnvVar{{Name: "REPL_FACTOR", Value: strconv.Itoa(aerospikecluster.Spec.ReplicationFactor)}}
		if memory := aerospikecluster.Spec.MaxMemory; memory != nil {
			node.Env = append(node.Env, corev1.EnvVar{Name: "MEM_GB", Value: strconv.Itoa(*memory)})
		}
		return nil
	})
	wanted, working := aerospikecluster.Spec.Deployments, int(statefulset.Status.ReadyReplicas)
	aerospikecluster.Status.Deployed = int(statefulset.Status.Replicas) == wanted
	aerospikecluster.Status.BrokenNodes = max(0, wanted-working)
	return err
}
