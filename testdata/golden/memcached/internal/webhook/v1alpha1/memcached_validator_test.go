package v1alpha1

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
	"example.org/memcached/test/utils"
)

// TestMemcachedValidator needs no API server. Each case changes an object,
// and validates its creation and an update to it. The object is the sample in
// config/samples/cache_v1alpha1_memcached.yaml.
func TestMemcachedValidator(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(*cachev1alpha1.Memcached) // changes the sample to the object before the update
		change func(*cachev1alpha1.Memcached) // changes that object to the one to validate
		// The invalid fields; empty if the object is valid.
		invalid []string
		// Fields that are invalid in an update only, because they are immutable.
		unchangeable []string
	}{
		"the sample": {},
		// "foo is empty": {
		//	change:  func(memcached *cachev1alpha1.Memcached) { memcached.Spec.Foo = new("") },
		//	invalid: []string{"spec.foo"},
		// },
		// "foo changes": {
		//	before:       func(memcached *cachev1alpha1.Memcached) { memcached.Spec.Foo = new("old") },
		//	change:       func(memcached *cachev1alpha1.Memcached) { memcached.Spec.Foo = new("new") },
		//	unchangeable: []string{"spec.foo"},
		// },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			before := &cachev1alpha1.Memcached{}
			g.Expect(utils.ReadSampleAs("config/samples/cache_v1alpha1_memcached.yaml", before)).To(Succeed())
			if test.before != nil {
				test.before(before)
			}
			after := before.DeepCopy()
			if test.change != nil {
				test.change(after)
			}
			validator := &MemcachedValidator{}
			_, err := validator.ValidateCreate(t.Context(), after)
			g.Expect(utils.InvalidFields(err)).To(ConsistOf(test.invalid), "on create")
			_, err = validator.ValidateUpdate(t.Context(), before, after)
			g.Expect(utils.InvalidFields(err)).To(ConsistOf(slices.Concat(test.invalid, test.unchangeable)), "on update")
		})
	}
}

// In this spec an API server calls the webhook, as in a cluster.

var _ = Describe("Memcached validation webhook", func() {
	It("is called when an object is created or updated", func() {
		sample, err := utils.ReadSample("config/samples/cache_v1alpha1_memcached.yaml")
		Expect(err).NotTo(HaveOccurred())
		namespaced, err := k8sClient.IsObjectNamespaced(sample)
		Expect(err).NotTo(HaveOccurred())
		if namespaced {
			sample.SetNamespace(metav1.NamespaceDefault)
		}

		By("waiting until the API server calls the webhook")
		tried := utils.CountWebhookRequests("/validate-cache-example-org-v1alpha1-memcached")
		Eventually(func() (int, error) {
			if err := k8sClient.Create(ctx, sample.DeepCopy(), client.DryRunAll); err != nil {
				return 0, err
			}
			return tried()
		}).WithTimeout(10*time.Second).Should(BeNumerically(">", 0), "config/samples/cache_v1alpha1_memcached.yaml")

		By("creating the sample")
		asked := utils.CountWebhookRequests("/validate-cache-example-org-v1alpha1-memcached")
		Expect(k8sClient.Create(ctx, sample)).To(Succeed())
		DeferCleanup(func() { Expect(utils.Remove(ctx, k8sClient, sample)).To(Succeed()) })
		Expect(asked()).To(Equal(1))

		By("updating it")
		before := sample.DeepCopy()
		sample.SetAnnotations(map[string]string{"test": "update"})
		// A patch works whatever other clients changed in the object.
		Expect(k8sClient.Patch(ctx, sample, client.MergeFrom(before))).To(Succeed())
		Expect(asked()).To(Equal(2))

		By("deleting it, which the marker of the webhook does not list")
		Expect(k8sClient.Delete(ctx, sample)).To(Succeed())
		Expect(asked()).To(Equal(2))
	})
})
