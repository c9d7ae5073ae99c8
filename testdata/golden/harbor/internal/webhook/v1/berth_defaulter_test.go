/*
Copyright 2026.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package v1

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	portv1 "example.org/harbor/api/v1"
	"example.org/harbor/test/utils"
)

// TestBerthDefaulter needs no API server. Each case changes the object in
// config/samples/port_v1_berth.yaml.
func TestBerthDefaulter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		leaveOut func(*portv1.Berth) // removes fields from the sample
		fillIn   func(*portv1.Berth) // sets the expected defaults
	}{
		"the sample needs no defaults": {},
		// "foo is bar": {
		//	leaveOut: func(berth *portv1.Berth) { berth.Spec.Foo = nil },
		//	fillIn:   func(berth *portv1.Berth) { berth.Spec.Foo = new("bar") },
		// },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			got := &portv1.Berth{}
			g.Expect(utils.ReadSampleAs("config/samples/port_v1_berth.yaml", got)).To(Succeed())
			if test.leaveOut != nil {
				test.leaveOut(got)
			}
			want := got.DeepCopy()
			if test.fillIn != nil {
				test.fillIn(want)
			}
			defaulter := &BerthDefaulter{}
			g.Expect(defaulter.Default(t.Context(), got)).To(Succeed())
			g.Expect(got).To(Equal(want))
			g.Expect(defaulter.Default(t.Context(), got)).To(Succeed())
			g.Expect(got).To(Equal(want), "a second call changed the object again")
		})
	}
}

// In this spec an API server calls the webhook, as in a cluster.

var _ = Describe("Berth defaulting webhook", func() {
	It("is called when an object is created or updated", func() {
		sample, err := utils.ReadSample("config/samples/port_v1_berth.yaml")
		Expect(err).NotTo(HaveOccurred())
		namespaced, err := k8sClient.IsObjectNamespaced(sample)
		Expect(err).NotTo(HaveOccurred())
		if namespaced {
			sample.SetNamespace(metav1.NamespaceDefault)
		}

		By("waiting until the API server calls the webhook")
		tried := utils.CountWebhookRequests("/mutate-port-example-org-v1-berth")
		Eventually(func() (int, error) {
			if err := k8sClient.Create(ctx, sample.DeepCopy(), client.DryRunAll); err != nil {
				return 0, err
			}
			return tried()
		}).WithTimeout(10*time.Second).Should(BeNumerically(">", 0), "config/samples/port_v1_berth.yaml")

		By("creating the sample")
		asked := utils.CountWebhookRequests("/mutate-port-example-org-v1-berth")
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
