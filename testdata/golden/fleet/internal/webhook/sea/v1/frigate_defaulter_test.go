package v1

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	seav1 "example.org/fleet/api/sea/v1"
	"example.org/fleet/test/utils"
)

// TestFrigateDefaulter needs no API server. Each case changes the object in
// config/samples/sea_v1_frigate.yaml.
func TestFrigateDefaulter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		leaveOut func(*seav1.Frigate) // removes fields from the sample
		fillIn   func(*seav1.Frigate) // sets the expected defaults
	}{
		"the sample needs no defaults": {},
		// "foo is bar": {
		//	leaveOut: func(frigate *seav1.Frigate) { frigate.Spec.Foo = nil },
		//	fillIn:   func(frigate *seav1.Frigate) { frigate.Spec.Foo = new("bar") },
		// },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			got := &seav1.Frigate{}
			g.Expect(utils.ReadSampleAs("config/samples/sea_v1_frigate.yaml", got)).To(Succeed())
			if test.leaveOut != nil {
				test.leaveOut(got)
			}
			want := got.DeepCopy()
			if test.fillIn != nil {
				test.fillIn(want)
			}
			defaulter := &FrigateDefaulter{}
			g.Expect(defaulter.Default(t.Context(), got)).To(Succeed())
			g.Expect(got).To(Equal(want))
			g.Expect(defaulter.Default(t.Context(), got)).To(Succeed())
			g.Expect(got).To(Equal(want), "a second call changed the object again")
		})
	}
}

// In this spec an API server calls the webhook, as in a cluster.

var _ = Describe("Frigate defaulting webhook", func() {
	It("is called when an object is created or updated", func() {
		sample, err := utils.ReadSample("config/samples/sea_v1_frigate.yaml")
		Expect(err).NotTo(HaveOccurred())
		namespaced, err := k8sClient.IsObjectNamespaced(sample)
		Expect(err).NotTo(HaveOccurred())
		if namespaced {
			sample.SetNamespace(metav1.NamespaceDefault)
		}

		By("waiting until the API server calls the webhook")
		tried := utils.CountWebhookRequests("/mutate-sea-example-org-v1-frigate")
		Eventually(func() (int, error) {
			if err := k8sClient.Create(ctx, sample.DeepCopy(), client.DryRunAll); err != nil {
				return 0, err
			}
			return tried()
		}).WithTimeout(10*time.Second).Should(BeNumerically(">", 0), "config/samples/sea_v1_frigate.yaml")

		By("creating the sample")
		asked := utils.CountWebhookRequests("/mutate-sea-example-org-v1-frigate")
		Expect(k8sClient.Create(ctx, sample)).To(Succeed())
		DeferCleanup(func() { Expect(utils.Remove(ctx, k8sClient, sample)).To(Succeed()) })
		Expect(asked()).To(Equal(1))

		By("updating it")
		before := sample.DeepCopy()
		sample.SetAnnotations(map[string]string{"test": "update"})
		// A patch works whatever other clients changed in the object.
		Expect(k8sClient.Patch(ctx, sample, client.MergeFrom(before))).To(Succeed())
		Expect(asked()).To(Equal(2))

		By("deleting it, which needs no defaults")
		Expect(k8sClient.Delete(ctx, sample)).To(Succeed())
		Expect(asked()).To(Equal(2))
	})
})
