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

// These tests are for deployment_label.go and use a function of
// deployment_controller_test.go. Delete this file together with either of them.

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	appsv1 "k8s.io/api/apps/v1"
)

func TestDeploymentReconcilerLeavesUnselectedObjects(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, appsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &appsv1.Deployment{}
	if err := readSample("test/objects/apps_v1_deployment.yaml", obj); err != nil {
		t.Fatal(err)
	}
	if !deploymentReconcilerWith(fake.NewClientBuilder().WithScheme(scheme).Build()).isSelected(obj) {
		t.Fatalf("test/objects/apps_v1_deployment.yaml lacks the labels %s", deploymentLabels)
	}
	for key := range deploymentLabels {
		unselected := obj.DeepCopy()
		delete(unselected.Labels, key)
		c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(unselected).WithStatusSubresource(unselected).Build()
		r := deploymentReconcilerWith(c)
		name := client.ObjectKeyFromObject(unselected)
		if err := r.Get(t.Context(), name, unselected); err != nil {
			t.Fatal(err)
		}
		before := unselected.ResourceVersion
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: name}); err != nil {
			t.Fatal(err)
		}
		if err := r.Get(t.Context(), name, unselected); err != nil {
			t.Fatal(err)
		}
		if unselected.ResourceVersion != before {
			t.Errorf("an object without the label %s was changed", key)
		}
		unselected.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		if !r.isSelected(unselected) {
			t.Error("an object that is being deleted is not selected: its finalizer would stay")
		}
	}
}

var _ = Describe("Deployment controller with a label selector", func() {
	It("does not reconcile a Deployment without the label", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return deploymentReconcilerWith(c).SetupWithManager(mgr)
		})
		unselected := &appsv1.Deployment{}
		placeSample("test/objects/apps_v1_deployment.yaml", unselected)
		unselected.SetName(unselected.GetName() + "-unselected")
		unselected.SetLabels(nil)
		Expect(k8sClient.Create(ctx, unselected)).To(Succeed())

		By("waiting until a later object with the label is read")
		selected := &appsv1.Deployment{}
		createSample("test/objects/apps_v1_deployment.yaml", selected)
		counting.settled(selected)
		Expect(counting.reads(unselected)).To(BeZero())
	})
})
