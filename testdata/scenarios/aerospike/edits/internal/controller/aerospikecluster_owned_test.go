package controller

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aerospikev1alpha1 "aerospike/api/v1alpha1"
)

var _ = Describe("AerospikeCluster controller, at work", func() {
	It("keeps the nodes and their configuration as the spec asks", func() {
		runController(func(mgr ctrl.Manager, c client.Client) error {
			return aerospikeclusterReconcilerWith(c).SetupWithManager(mgr)
		})
		cluster := &aerospikev1alpha1.AerospikeCluster{}
		createSample("config/samples/aerospike_v1alpha1_aerospikecluster.yaml", cluster)
		key := client.ObjectKeyFromObject(cluster)
		nodes, config := &appsv1.StatefulSet{}, &corev1.ConfigMap{}
		// Without controllers, owned objects are not garbage collected.
		DeferCleanup(func() {
			Expect(k8sClient.Delete(ctx, nodes)).To(Succeed())
			Expect(k8sClient.Delete(ctx, config)).To(Succeed())
		})
		Eventually(func(g Gomega) {
			g.Expect(k8sClient.Get(ctx, key, nodes)).To(Succeed())
			g.Expect(k8sClient.Get(ctx, key, config)).To(Succeed())
			g.Expect(*nodes.Spec.Replicas).To(Equal(int32(3)))
			g.Expect(metav1.IsControlledBy(nodes, cluster)).To(BeTrue())
			g.Expect(nodes.Spec.Template.Spec.Containers[0].Env).To(ConsistOf(
				corev1.EnvVar{Name: "REPL_FACTOR", Value: "2"}, corev1.EnvVar{Name: "MEM_GB", Value: "4"}))
			g.Expect(config.Data).To(HaveKeyWithValue("aerospike.conf", And(
				ContainSubstring("interval 150"), ContainSubstring("replication-factor 2"), ContainSubstring("strong-consistency false"))))
		}).WithTimeout(time.Minute).Should(Succeed())

		By("starting the nodes, of which one does not work")
		nodes.Status.Replicas = 3
		Expect(k8sClient.Status().Update(ctx, nodes)).To(Succeed())
		for i, ready := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionTrue} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: key.Namespace, Name: fmt.Sprint(key.Name, "-", i), Labels: nodes.Spec.Template.Labels,
			}}
			pod.Spec.Containers = []corev1.Container{{Name: "aerospike", Image: "aerospike/aerospike-server"}}
			Expect(k8sClient.Create(ctx, pod)).To(Succeed())
			DeferCleanup(func() { Expect(k8sClient.Delete(ctx, pod)).To(Succeed()) })
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
			Expect(k8sClient.Status().Update(ctx, pod)).To(Succeed())
		}
		Eventually(func(g Gomega) {
			g.Expect(k8sClient.Get(ctx, key, cluster)).To(Succeed())
			g.Expect(cluster.Status.Deployed).To(BeTrue())
			g.Expect(cluster.Status.BrokenNodes).To(Equal(1))
		}).WithTimeout(time.Minute).Should(Succeed())

		By("asking for more")
		before := cluster.DeepCopy()
		cluster.Spec.Deployments = 5
		Expect(k8sClient.Patch(ctx, cluster, client.MergeFrom(before))).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(k8sClient.Get(ctx, key, nodes)).To(Succeed())
			g.Expect(*nodes.Spec.Replicas).To(Equal(int32(5)))
		}).WithTimeout(time.Minute).Should(Succeed())
	})
})
