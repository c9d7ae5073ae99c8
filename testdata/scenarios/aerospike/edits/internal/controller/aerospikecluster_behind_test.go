package controller

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	aerospikev1alpha1 "aerospike/api/v1alpha1"
)

// TestAerospikeClusterReconcilerCountsNodesBehindCache: after every write of the
// status, the next reads return the previous state.
func TestAerospikeClusterReconcilerCountsNodesBehindCache(t *testing.T) {
	r, req := newAerospikeClusterReconciler(t)
	stored := r.Client.(client.WithWatch)
	before, behind := &aerospikev1alpha1.AerospikeCluster{}, 0
	r.Client = interceptor.NewClient(stored, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			if err := c.Get(ctx, req.NamespacedName, before); err != nil {
				return err
			}
			behind = 3
			return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if cluster, ok := obj.(*aerospikev1alpha1.AerospikeCluster); ok && behind > 0 {
				behind--
				before.DeepCopyInto(cluster)
				return nil
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: req.Namespace, Name: "node", Labels: map[string]string{clusterLabel: req.Name},
	}}
	if err := stored.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		ready corev1.ConditionStatus
		want  int
	}{{corev1.ConditionTrue, 0}, {corev1.ConditionFalse, 1}, {corev1.ConditionTrue, 0}} {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: step.ready}}
		if err := stored.Status().Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		_, err := r.Reconcile(t.Context(), req)
		for apierrors.IsConflict(err) { // then it is called again
			_, err = r.Reconcile(t.Context(), req)
		}
		if err != nil {
			t.Fatal(err)
		}
		cluster := &aerospikev1alpha1.AerospikeCluster{}
		if err := stored.Get(t.Context(), req.NamespacedName, cluster); err != nil {
			t.Fatal(err)
		}
		if cluster.Status.BrokenNodes != step.want {
			t.Errorf("of a node whose condition Ready is %s, %d are broken, want %d", step.ready, cluster.Status.BrokenNodes, step.want)
		}
	}
}
