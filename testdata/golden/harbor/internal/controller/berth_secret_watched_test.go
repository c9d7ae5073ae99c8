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

package controller

// These tests are for berth_secret_watched.go and use a function of
// berth_controller_test.go. Delete this file together with either of them.

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	portv1 "example.org/harbor/api/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestBerthReconcilerLeavesSecretOfOtherNamespaces(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, portv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	near, far := &portv1.Berth{}, &portv1.Berth{}
	for namespace, obj := range map[string]client.Object{"near": near, "far": far} {
		if err := readSample("config/samples/port_v1_berth.yaml", obj); err != nil {
			t.Fatal(err)
		}
		obj.SetNamespace(namespace)
	}
	r := berthReconcilerWith(fake.NewClientBuilder().WithScheme(scheme).WithObjects(near, far).Build())
	changed := &corev1.Secret{}
	if err := readSample("test/objects/core_v1_secret.yaml", changed); err != nil {
		t.Fatal(err)
	}
	changed.SetNamespace("near")
	for _, req := range r.requestsForSecret(t.Context(), changed) {
		if req.Namespace != "near" {
			t.Errorf("%s would be reconciled after an event in another namespace", req)
		}
	}
}

var _ = Describe("Berth controller that watches Secret objects", func() {
	// If a Berth refers to a Secret by name, use the name in
	// test/objects/core_v1_secret.yaml in the sample: this spec creates that object.
	It("reconciles a Berth when a Secret is created or changes", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return berthReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &portv1.Berth{}
		createSample("config/samples/port_v1_berth.yaml", obj)

		By("creating a Secret")
		before := counting.settled(obj)
		watched := &corev1.Secret{}
		createSample("test/objects/core_v1_secret.yaml", watched)
		counting.readsMore(obj, before)

		By("changing it")
		before = counting.settled(obj)
		touch(watched)
		counting.readsMore(obj, before)
	})
})
