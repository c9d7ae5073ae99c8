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

// These tests are for deployment_secret_watched.go and use a function of
// deployment_controller_test.go. Delete this file together with either of them.

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestDeploymentReconcilerLeavesSecretOfOtherNamespaces(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, appsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	near, far := &appsv1.Deployment{}, &appsv1.Deployment{}
	for namespace, obj := range map[string]client.Object{"near": near, "far": far} {
		if err := readSample("test/objects/apps_v1_deployment.yaml", obj); err != nil {
			t.Fatal(err)
		}
		obj.SetNamespace(namespace)
	}
	r := deploymentReconcilerWith(fake.NewClientBuilder().WithScheme(scheme).WithObjects(near, far).Build())
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

var _ = Describe("Deployment controller that watches Secret objects", func() {
	// If a Deployment refers to a Secret by name, use the name in
	// test/objects/core_v1_secret.yaml in the sample: this spec creates that object.
	It("reconciles a Deployment when a Secret is created or changes", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return deploymentReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &appsv1.Deployment{}
		createSample("test/objects/apps_v1_deployment.yaml", obj)

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
