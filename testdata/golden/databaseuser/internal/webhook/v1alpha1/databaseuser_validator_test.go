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

package v1alpha1

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mygroupv1alpha1 "handsomeguy.cn/databaseuser/api/v1alpha1"
	"handsomeguy.cn/databaseuser/test/utils"
)

// TestDatabaseUserValidator needs no API server. Each case changes an object,
// and validates its creation and an update to it. The object is the sample in
// config/samples/mygroup_v1alpha1_databaseuser.yaml.
func TestDatabaseUserValidator(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(*mygroupv1alpha1.DatabaseUser) // changes the sample to the object before the update
		change func(*mygroupv1alpha1.DatabaseUser) // changes that object to the one to validate
		// The invalid fields; empty if the object is valid.
		invalid []string
		// Fields that are invalid in an update only, because they are immutable.
		unchangeable []string
	}{
		"the sample": {},
		// "foo is empty": {
		//	change:  func(databaseuser *mygroupv1alpha1.DatabaseUser) { databaseuser.Spec.Foo = new("") },
		//	invalid: []string{"spec.foo"},
		// },
		// "foo changes": {
		//	before:       func(databaseuser *mygroupv1alpha1.DatabaseUser) { databaseuser.Spec.Foo = new("old") },
		//	change:       func(databaseuser *mygroupv1alpha1.DatabaseUser) { databaseuser.Spec.Foo = new("new") },
		//	unchangeable: []string{"spec.foo"},
		// },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			before := &mygroupv1alpha1.DatabaseUser{}
			g.Expect(utils.ReadSampleAs("config/samples/mygroup_v1alpha1_databaseuser.yaml", before)).To(Succeed())
			if test.before != nil {
				test.before(before)
			}
			after := before.DeepCopy()
			if test.change != nil {
				test.change(after)
			}
			validator := &DatabaseUserValidator{}
			_, err := validator.ValidateCreate(t.Context(), after)
			g.Expect(utils.InvalidFields(err)).To(ConsistOf(test.invalid), "on create")
			_, err = validator.ValidateUpdate(t.Context(), before, after)
			g.Expect(utils.InvalidFields(err)).To(ConsistOf(slices.Concat(test.invalid, test.unchangeable)), "on update")
		})
	}
}

// In this spec an API server calls the webhook, as in a cluster.

var _ = Describe("DatabaseUser validation webhook", func() {
	It("is called when an object is created or updated", func() {
		sample, err := utils.ReadSample("config/samples/mygroup_v1alpha1_databaseuser.yaml")
		Expect(err).NotTo(HaveOccurred())
		namespaced, err := k8sClient.IsObjectNamespaced(sample)
		Expect(err).NotTo(HaveOccurred())
		if namespaced {
			sample.SetNamespace(metav1.NamespaceDefault)
		}

		By("waiting until the API server calls the webhook")
		tried := utils.CountWebhookRequests("/validate-mygroup-handsomeguy-cn-v1alpha1-databaseuser")
		Eventually(func() (int, error) {
			if err := k8sClient.Create(ctx, sample.DeepCopy(), client.DryRunAll); err != nil {
				return 0, err
			}
			return tried()
		}).WithTimeout(10*time.Second).Should(BeNumerically(">", 0), "config/samples/mygroup_v1alpha1_databaseuser.yaml")

		By("creating the sample")
		asked := utils.CountWebhookRequests("/validate-mygroup-handsomeguy-cn-v1alpha1-databaseuser")
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
