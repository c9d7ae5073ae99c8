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

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	portv1 "example.org/harbor/api/v1"
	"example.org/harbor/test/utils"
)

// The tests use the sample in config/samples, which also verifies that the sample
// matches the fields of Berth.
const berthBillingSample = "config/samples/port_v1_berth.yaml"

// These tests use an in-memory client and need no API server.

func TestBerthBillingReconcilerIgnoresMissingObject(t *testing.T) {
	r, req := newBerthBillingReconciler(t)
	if err := r.Delete(t.Context(), berthBillingIn(t, r, req)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestBerthBillingReconcilerSettles(t *testing.T) {
	r, req := newBerthBillingReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	before := berthBillingIn(t, r, req).ResourceVersion
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if after := berthBillingIn(t, r, req).ResourceVersion; after != before {
		t.Errorf("the second reconciliation changed the object: resource version %s became %s", before, after)
	}
}

// berthBillingReconcilerWith returns the reconciler under test, which uses the client c. Set
// other fields that your reconciler needs here.
func berthBillingReconcilerWith(c client.Client) *BerthBillingReconciler {
	return &BerthBillingReconciler{Client: c, Scheme: c.Scheme()}
}

// newBerthBillingReconciler returns a reconciler whose client stores the sample in the
// namespace default, and the request to reconcile the sample.
func newBerthBillingReconciler(t *testing.T) (*BerthBillingReconciler, ctrl.Request) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, portv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &portv1.Berth{}
	if err := utils.ReadSampleAs(berthBillingSample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Namespace = metav1.NamespaceDefault
	obj.Generation = 1
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).Build()
	return berthBillingReconcilerWith(c), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
}

// berthBillingIn returns the stored object that the request names.
func berthBillingIn(t *testing.T, r *BerthBillingReconciler, req ctrl.Request) *portv1.Berth {
	t.Helper()
	obj := &portv1.Berth{}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// This spec runs the controller against a real API server.

var _ = Describe("berth-billing controller", func() {
	It("reconciles the sample", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return berthBillingReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &portv1.Berth{}
		createSample(berthBillingSample, obj)
		counting.settled(obj)
	})
})
