package controller

// This test is for sentinel_apply.go and uses functions of
// sentinel_controller_test.go. Delete this file together with either of them.

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
	cachev1alpha1ac "example.org/memcached/api/v1alpha1/applyconfiguration/api/v1alpha1"
)

var _ = Describe("Sentinel controller that applies its status", func() {
	It("shares the status with others", func() {
		runController(func(mgr ctrl.Manager, c client.Client) error {
			return sentinelReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &cachev1alpha1.Sentinel{}
		createSample(sentinelSample, obj)
		key := client.ObjectKeyFromObject(obj)
		conditionIs := func(name string, status metav1.ConditionStatus) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				g.Expect(k8sClient.Get(ctx, key, obj)).To(Succeed())
				g.Expect(meta.IsStatusConditionPresentAndEqual(obj.Status.Conditions, name, status)).To(BeTrue(), "%s is not %s: %+v", name, status, obj.Status.Conditions)
			}).WithTimeout(time.Minute).WithPolling(100 * time.Millisecond).Should(Succeed())
		}
		conditionIs("Ready", metav1.ConditionTrue)

		By("changing its condition, and adding one, as another manager")
		condition := func(name string, status metav1.ConditionStatus) *metav1ac.ConditionApplyConfiguration {
			return metav1ac.Condition().WithType(name).WithStatus(status).
				WithLastTransitionTime(metav1.Now()).WithReason("Test").WithMessage("written by a test")
		}
		other := cachev1alpha1ac.Sentinel(obj.Name, obj.Namespace).WithStatus(cachev1alpha1ac.SentinelStatus().
			WithConditions(condition("Ready", metav1.ConditionUnknown), condition("Other", metav1.ConditionTrue)))
		Expect(k8sClient.Status().Apply(ctx, other, client.FieldOwner("other"), client.ForceOwnership)).To(Succeed())
		conditionIs("Ready", metav1.ConditionUnknown)

		By("letting the controller reconcile")
		touch(obj)
		conditionIs("Ready", metav1.ConditionTrue)
		conditionIs("Other", metav1.ConditionTrue)

		By("reading back what the controller owns")
		own, err := cachev1alpha1ac.ExtractSentinelStatus(obj, "sentinel-controller")
		Expect(err).NotTo(HaveOccurred())
		Expect(own.Status.Conditions).To(HaveLen(1))
		Expect(*own.Status.Conditions[0].Type).To(Equal("Ready"))
	})
})
