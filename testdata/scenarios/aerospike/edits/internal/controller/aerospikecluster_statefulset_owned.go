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

// ensureStatefulSet creates or updates the StatefulSet of the nodes, and counts the nodes.
func (r *AerospikeClusterReconciler) ensureStatefulSet(ctx context.Context, aerospikecluster *aerospikev1alpha1.AerospikeCluster) error {
	statefulset := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: aerospikecluster.Namespace,
		Name:      aerospikecluster.Name,
	}}
	err := own(ctx, r.Client, aerospikecluster, statefulset, func() error {
		spec, labels := &statefulset.Spec, nodeLabels(aerospikecluster)
		spec.Replicas = new(int32(aerospikecluster.Spec.Deployments))
		spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		spec.PodManagementPolicy = appsv1.ParallelPodManagement // nodes find each other in any order
		spec.Template.Labels = labels
		setNode(&spec.Template.Spec, aerospikecluster)
		return nil
	})
	if err != nil {
		return err
	}
	aerospikecluster.Status.Deployed = int(statefulset.Status.Replicas) == aerospikecluster.Spec.Deployments
	return r.countNodes(ctx, aerospikecluster)
}

// setNode sets the container of a node. It keeps fields that the API server and others
// have set.
func setNode(pod *corev1.PodSpec, aerospikecluster *aerospikev1alpha1.AerospikeCluster) {
	if len(pod.Containers) == 0 {
		pod.Containers = make([]corev1.Container, 1)
		config := &corev1.ConfigMapVolumeSource{}
		config.Name = aerospikecluster.Name
		pod.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: config}}}
	}
	node := &pod.Containers[0]
	node.Name, node.Image = "aerospike", "aerospike/aerospike-server"
	node.Args = []string{"--config-file", "/etc/aerospike/" + configFile}
	node.VolumeMounts = []corev1.VolumeMount{{Name: "config", MountPath: "/etc/aerospike"}}
	node.Env = []corev1.EnvVar{{Name: "REPL_FACTOR", Value: strconv.Itoa(aerospikecluster.Spec.ReplicationFactor)}}
	if memory := aerospikecluster.Spec.MaxMemory; memory != nil {
		node.Env = append(node.Env, corev1.EnvVar{Name: "MEM_GB", Value: strconv.Itoa(*memory)})
	}
}
