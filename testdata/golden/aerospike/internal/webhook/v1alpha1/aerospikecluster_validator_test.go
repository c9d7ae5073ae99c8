/*
Copyright 2026 Dmitrii Zolotov.

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

package v1alpha1

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aerospikev1alpha1 "aerospike/api/v1alpha1"
	"aerospike/test/utils"
)

// TestAerospikeClusterValidator needs no API server. Each case changes an object,
// and validates its creation and an update to it. The object is the sample in
// config/samples/aerospike_v1alpha1_aerospikecluster.yaml.
func TestAerospikeClusterValidator(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(*aerospikev1alpha1.AerospikeCluster) // changes the sample to the object before the update
		change func(*aerospikev1alpha1.AerospikeCluster) // changes that object to the one to validate
		// The invalid fields; empty if the object is valid.
		invalid []string
		// Fields that are invalid in an update only, because they are immutable.
		unchangeable []string
	}{
		"the sample": {},
		// "foo is empty": {
		//	change:  func(aerospikecluster *aerospikev1alpha1.AerospikeCluster) { aerospikecluster.Spec.Foo = new("") },
		//	invalid: []string{"spec.foo"},
		// },
		// "foo changes": {
		//	before:       func(aerospikecluster *aerospikev1alpha1.AerospikeCluster) { aerospikecluster.Spec.Foo = new("old") },
		//	change:       func(aerospikecluster *aerospikev1alpha1.AerospikeCluster) { aerospikecluster.Spec.Foo = new("new") },
		//	unchangeable: []string{"spec.foo"},
		// },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			before := &aerospikev1alpha1.AerospikeCluster{}
			g.Expect(utils.ReadSampleAs("config/samples/aerospike_v1alpha1_aerospikecluster.yaml", before)).To(Succeed())
			if test.before != nil {
				test.before(before)
			}
			after := before.DeepCopy()
			if test.change != nil {
				test.change(after)
			}
			validator := &AerospikeClusterValidator{}
			_, err := validator.ValidateCreate(t.Context(), after)
			g.Expect(utils.InvalidFields(err)).To(ConsistOf(test.invalid), "on create")
			_, err = validator.ValidateUpdate(t.Context(), before, after)
			g.Expect(utils.InvalidFields(err)).To(ConsistOf(slices.Concat(test.invalid, test.unchangeable)), "on update")
		})
	}
}

// In this spec an API server calls the webhook, as in a cluster.

var _ = Describe("AerospikeCluster validation webhook", func() {
	It("is called when an object is created or updated", func() {
		sample, err := utils.ReadSample("config/samples/aerospike_v1alpha1_aerospikecluster.yaml")
		Expect(err).NotTo(HaveOccurred())
		namespaced, err := k8sClient.IsObjectNamespaced(sample)
		Expect(err).NotTo(HaveOccurred())
		if namespaced {
			sample.SetNamespace(metav1.NamespaceDefault)
		}

		By("waiting until the API server calls the webhook")
		tried := utils.CountWebhookRequests("/validate-aerospike-dzolotov-tech-v1alpha1-aerospikecluster")
		Eventually(func() (int, error) {
			if err := k8sClient.Create(ctx, sample.DeepCopy(), client.DryRunAll); err != nil {
				return 0, err
			}
			return tried()
		}).WithTimeout(10*time.Second).Should(BeNumerically(">", 0), "config/samples/aerospike_v1alpha1_aerospikecluster.yaml")

		By("creating the sample")
		asked := utils.CountWebhookRequests("/validate-aerospike-dzolotov-tech-v1alpha1-aerospikecluster")
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
