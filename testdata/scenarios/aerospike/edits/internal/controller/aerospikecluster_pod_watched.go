package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aerospikev1alpha1 "aerospike/api/v1alpha1"
)

// clusterLabel is the label of pods with the name of their AerospikeCluster.
const clusterLabel = "aerospike.dzolotov.tech/cluster"

// nodeLabels are the labels that exactly the pods of a cluster have.
func nodeLabels(aerospikecluster *aerospikev1alpha1.AerospikeCluster) map[string]string {
	return map[string]string{clusterLabel: aerospikecluster.Name}
}

// The cache needs list and watch.
// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list;watch

// requestsForPod returns the AerospikeCluster to reconcile after an event of a Pod.
func (r *AerospikeClusterReconciler) requestsForPod(_ context.Context, obj client.Object) []ctrl.Request {
	cluster, ok := obj.GetLabels()[clusterLabel]
	if !ok {
		return nil
	}
	return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: obj.GetNamespace(), Name: cluster}}}
}

// countNodes sets the number of broken nodes in the status.
func (r *AerospikeClusterReconciler) countNodes(ctx context.Context, aerospikecluster *aerospikev1alpha1.AerospikeCluster) error {
	pods := &corev1.PodList{}
	err := r.List(ctx, pods, client.InNamespace(aerospikecluster.Namespace), client.MatchingLabels(nodeLabels(aerospikecluster)))
	if err != nil {
		return err
	}
	broken := 0
	for i := range pods.Items {
		if !isReady(&pods.Items[i]) {
			broken++
		}
	}
	aerospikecluster.Status.BrokenNodes = broken
	return nil
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
