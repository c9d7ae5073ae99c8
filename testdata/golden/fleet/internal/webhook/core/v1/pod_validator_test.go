package v1

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"example.org/fleet/test/utils"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestPodValidator needs no API server. Each case changes an object,
// and validates its creation and an update to it. The object is the sample in
// test/objects/core_v1_pod.yaml.
func TestPodValidator(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(*corev1.Pod) // changes the sample to the object before the update
		change func(*corev1.Pod) // changes that object to the one to validate
		// The invalid fields; empty if the object is valid.
		invalid []string
		// Fields that are invalid in an update only, because they are immutable.
		unchangeable []string
	}{
		"the sample": {},
		// "no team": {
		//	change:  func(pod *corev1.Pod) { pod.Labels = nil },
		//	invalid: []string{"metadata.labels[team]"},
		// },
		// "another team": {
		//	before:       func(pod *corev1.Pod) { pod.Labels = map[string]string{"team": "old"} },
		//	change:       func(pod *corev1.Pod) { pod.Labels = map[string]string{"team": "new"} },
		//	unchangeable: []string{"metadata.labels[team]"},
		// },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			before := &corev1.Pod{}
			g.Expect(utils.ReadSampleAs("test/objects/core_v1_pod.yaml", before)).To(Succeed())
			if test.before != nil {
				test.before(before)
			}
			after := before.DeepCopy()
			if test.change != nil {
				test.change(after)
			}
			validator := &PodValidator{}
			_, err := validator.ValidateCreate(t.Context(), after)
			g.Expect(utils.InvalidFields(err)).To(ConsistOf(test.invalid), "on create")
			_, err = validator.ValidateUpdate(t.Context(), before, after)
			g.Expect(utils.InvalidFields(err)).To(ConsistOf(slices.Concat(test.invalid, test.unchangeable)), "on update")
		})
	}
}

// In this spec an API server calls the webhook, as in a cluster.

var _ = Describe("Pod validation webhook", func() {
	It("is called when an object is created or updated", func() {
		sample, err := utils.ReadSample("test/objects/core_v1_pod.yaml")
		Expect(err).NotTo(HaveOccurred())
		namespaced, err := k8sClient.IsObjectNamespaced(sample)
		Expect(err).NotTo(HaveOccurred())
		if namespaced {
			sample.SetNamespace(metav1.NamespaceDefault)
		}

		By("waiting until the API server calls the webhook")
		tried := utils.CountWebhookRequests("/validate--v1-pod")
		Eventually(func() (int, error) {
			if err := k8sClient.Create(ctx, sample.DeepCopy(), client.DryRunAll); err != nil {
				return 0, err
			}
			return tried()
		}).WithTimeout(10*time.Second).Should(BeNumerically(">", 0), "test/objects/core_v1_pod.yaml")

		By("creating the sample")
		asked := utils.CountWebhookRequests("/validate--v1-pod")
		Expect(k8sClient.Create(ctx, sample)).To(Succeed())
		DeferCleanup(func() { Expect(utils.Remove(ctx, k8sClient, sample)).To(Succeed()) })
		calls, err := asked() // includes requests of other clients
		Expect(err).NotTo(HaveOccurred())
		Expect(calls).To(BeNumerically(">", 0))

		By("updating it")
		before := sample.DeepCopy()
		sample.SetAnnotations(map[string]string{"test": "update"})
		// A patch works whatever other clients changed in the object.
		Expect(k8sClient.Patch(ctx, sample, client.MergeFrom(before))).To(Succeed())
		Expect(asked()).To(BeNumerically(">", calls))
	})
})
