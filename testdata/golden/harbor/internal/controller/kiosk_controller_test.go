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
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	portv1 "example.org/harbor/api/v1"
	"example.org/harbor/test/utils"
)

// The tests use the sample in config/samples, which also verifies that the sample
// matches the fields of Kiosk.
const kioskSample = "config/samples/port_v1_kiosk.yaml"

// These tests use an in-memory client and need no API server.

func TestKioskReconcilerIgnoresMissingObject(t *testing.T) {
	r, req := newKioskReconciler(t)
	if err := r.Delete(t.Context(), kioskIn(t, r, req)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestKioskReconcilerSettles(t *testing.T) {
	r, req := newKioskReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	before := kioskIn(t, r, req).ResourceVersion
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if after := kioskIn(t, r, req).ResourceVersion; after != before {
		t.Errorf("the second reconciliation changed the object: resource version %s became %s", before, after)
	}
}

// kioskReconcilerWith returns the reconciler under test, which uses the client c. Set
// other fields that your reconciler needs here.
func kioskReconcilerWith(c client.Client) *KioskReconciler {
	return &KioskReconciler{Client: c, Scheme: c.Scheme(), Recorder: &events.FakeRecorder{}}
}

// newKioskReconciler returns a reconciler whose client stores the sample in the
// namespace default, and the request to reconcile the sample.
func newKioskReconciler(t *testing.T) (*KioskReconciler, ctrl.Request) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, portv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &portv1.Kiosk{}
	if err := utils.ReadSampleAs(kioskSample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Namespace = metav1.NamespaceDefault
	obj.Generation = 1
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).Build()
	return kioskReconcilerWith(c), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
}

// kioskIn returns the stored object that the request names.
func kioskIn(t *testing.T, r *KioskReconciler, req ctrl.Request) *portv1.Kiosk {
	t.Helper()
	obj := &portv1.Kiosk{}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// This spec runs the controller against a real API server.

var _ = Describe("Kiosk controller", func() {
	It("reconciles the sample", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return kioskReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &portv1.Kiosk{}
		createSample(kioskSample, obj)
		counting.settled(obj)
	})
})
