package controller

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
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
	It("says what keeps it from its work, and recovers", func() {
		runController(func(mgr ctrl.Manager, c client.Client) error {
			return aerospikeclusterReconcilerWith(c).SetupWithManager(mgr)
		})
		cluster := &aerospikev1alpha1.AerospikeCluster{}
		placeSample("config/samples/aerospike_v1alpha1_aerospikecluster.yaml", cluster)
		cluster.Name = "contested" // the name of nothing that other specs left
		key := client.ObjectKeyFromObject(cluster)

		By("giving the name of its configuration to another controller")
		other := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "other", UID: "1", Controller: new(true)}
		taken := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name, OwnerReferences: []metav1.OwnerReference{other},
		}}
		Expect(k8sClient.Create(ctx, taken)).To(Succeed())
		DeferCleanup(func() {
			Expect(k8sClient.Delete(ctx, taken)).To(Succeed()) // by then the one that the cluster owns
			Expect(k8sClient.Delete(ctx, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})).To(Succeed())
		})
		Expect(k8sClient.Create(ctx, cluster)).To(Succeed())
		ready := func() (*metav1.Condition, error) {
			err := k8sClient.Get(ctx, key, cluster)
			return meta.FindStatusCondition(cluster.Status.Conditions, "Ready"), err
		}
		Eventually(ready).WithTimeout(time.Minute).Should(HaveValue(And(
			HaveField("Status", metav1.ConditionFalse),
			HaveField("ObservedGeneration", cluster.Generation),
			HaveField("Message", ContainSubstring("already owned by another Deployment controller other")),
		)))

		By("taking the name back")
		Expect(k8sClient.Delete(ctx, taken)).To(Succeed())
		Eventually(ready).WithTimeout(time.Minute).Should(HaveValue(HaveField("Status", metav1.ConditionTrue)))
	})
})
