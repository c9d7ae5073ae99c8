package v1alpha1

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aerospikev1alpha1 "aerospike/api/v1alpha1"
	"aerospike/test/utils"
)

var _ = Describe("AerospikeCluster rules", func() {
	It("are what the API server goes by", func() {
		cluster := func(deployments, copies int) *aerospikev1alpha1.AerospikeCluster {
			return &aerospikev1alpha1.AerospikeCluster{
				ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "rules"},
				Spec:       aerospikev1alpha1.AerospikeClusterSpec{Deployments: deployments, ReplicationFactor: copies},
			}
		}
		By("waiting until it knows of the webhook")
		Eventually(func() error {
			return k8sClient.Create(ctx, cluster(0, 0), client.DryRunAll)
		}).WithTimeout(time.Minute).ShouldNot(Succeed())

		By("creating")
		create := func(deployments, copies int) []string {
			return utils.InvalidFields(k8sClient.Create(ctx, cluster(deployments, copies), client.DryRunAll))
		}
		Expect(create(2, 3)).To(ConsistOf("spec.replicationFactor"))
		Expect(create(0, 0)).To(ConsistOf("spec.deployments"))
		Expect(create(0, 1)).To(ConsistOf("spec.deployments", "spec.replicationFactor"))
		valid := cluster(3, 3)
		Expect(k8sClient.Create(ctx, valid)).To(Succeed())
		Expect(valid.Spec.Heartbeat.Interval).To(Equal(150))

		By("updating")
		update := func(deployments, copies int) []string {
			changed := valid.DeepCopy()
			changed.Spec.Deployments, changed.Spec.ReplicationFactor = deployments, copies
			return utils.InvalidFields(k8sClient.Update(ctx, changed, client.DryRunAll))
		}
		Expect(update(2, 3)).To(ConsistOf("spec.replicationFactor"))
		Expect(update(0, 0)).To(ConsistOf("spec.deployments"))
		Expect(update(2, 2)).To(BeEmpty())

		By("deleting")
		Expect(k8sClient.Delete(ctx, valid)).To(Succeed())
	})
})
