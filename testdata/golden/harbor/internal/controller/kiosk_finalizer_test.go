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

// These tests are for kiosk_finalizer.go and use a function of
// kiosk_controller_test.go. Delete this file together with either of them.

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	portv1 "example.org/harbor/api/v1"
)

// kioskCleaner replaces cleanUp: it counts its calls, and returns result and err.
type kioskCleaner struct {
	calls  int
	result ctrl.Result
	err    error
}

func (c *kioskCleaner) clean(context.Context, *portv1.Kiosk) (ctrl.Result, error) {
	c.calls++
	return c.result, c.err
}

func TestKioskReconcilerFinalizesBeforeAnythingElse(t *testing.T) {
	r, obj := newKioskReconcilerToFinalize(t)
	cleaner := &kioskCleaner{}
	var versions [2]string
	for i := range versions {
		if _, err := r.finalize(t.Context(), obj, cleaner.clean); err != nil {
			t.Fatal(err)
		}
		if err := r.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			t.Fatal(err)
		}
		versions[i] = obj.ResourceVersion
	}
	if !controllerutil.ContainsFinalizer(obj, kioskFinalizer) {
		t.Errorf("finalizers are %q, without %s", obj.Finalizers, kioskFinalizer)
	}
	if versions[0] != versions[1] {
		t.Error("the second call changed the object")
	}
	if cleaner.calls > 0 {
		t.Error("clean was called for an object that is not being deleted")
	}
}

func TestKioskReconcilerMakesNothingForObjectThatIsGone(t *testing.T) {
	r, obj := newKioskReconcilerToFinalize(t)
	if err := r.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	// The cache may still return the old object.
	if _, err := r.finalize(t.Context(), obj, r.cleanUp); err == nil {
		t.Error("no error: Reconcile would continue without the finalizer")
	}
}

func TestKioskReconcilerHoldsObjectUntilCleanedUp(t *testing.T) {
	r, obj := newKioskReconcilerToFinalize(t)
	failing := &kioskCleaner{err: errors.New("connection refused")}
	if _, err := r.finalize(t.Context(), obj, failing.clean); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	name := client.ObjectKeyFromObject(obj)
	if err := r.Get(t.Context(), name, obj); err != nil {
		t.Fatalf("a deleted object with the finalizer: %v", err)
	}
	if _, err := r.finalize(t.Context(), obj, failing.clean); !errors.Is(err, failing.err) {
		t.Errorf("got the error %v, want %v: without it there is no retry", err, failing.err)
	}
	waiting := &kioskCleaner{result: ctrl.Result{RequeueAfter: time.Minute}}
	if result, err := r.finalize(t.Context(), obj, waiting.clean); err != nil || result != waiting.result {
		t.Errorf("got %+v, error %v, want %+v: without it there is no retry", result, err, waiting.result)
	}
	if err := r.Get(t.Context(), name, obj); err != nil {
		t.Fatalf("the object after a failed and an unfinished clean-up: %v", err)
	}
	working := &kioskCleaner{}
	if result, err := r.finalize(t.Context(), obj, working.clean); err != nil || !result.IsZero() {
		t.Fatalf("after the clean-up got %+v, error %v", result, err)
	}
	if working.calls != 1 {
		t.Errorf("the clean-up ran %d times, want once", working.calls)
	}
	if err := r.Get(t.Context(), name, obj); !apierrors.IsNotFound(err) {
		t.Errorf("the object still exists after the clean-up: %v", err)
	}
}

func TestKioskReconcilerLeavesWhatOthersFinalize(t *testing.T) {
	r, obj := newKioskReconcilerToFinalize(t)
	controllerutil.AddFinalizer(obj, "example.org/other")
	if err := r.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if err := r.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
	cleaner := &kioskCleaner{}
	if _, err := r.finalize(t.Context(), obj, cleaner.clean); err != nil || cleaner.calls > 0 {
		t.Errorf("clean was called %d times for an object without the finalizer, error %v", cleaner.calls, err)
	}
}

func TestKioskReconcilerReportsCleanUp(t *testing.T) {
	r, obj := newKioskReconcilerToFinalize(t)
	req := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	controllerutil.AddFinalizer(obj, "example.org/other") // keeps the object in the API
	if err := r.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	conditions, _, err := unstructured.NestedSlice(content, "status", "conditions")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Available" && c["status"] == "True" {
			t.Error("an object that is being deleted is still reported as ready")
		}
	}
}

// newKioskReconcilerToFinalize returns a reconciler whose in-memory client stores
// the sample, and the stored sample.
func newKioskReconcilerToFinalize(t *testing.T) (*KioskReconciler, *portv1.Kiosk) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, portv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &portv1.Kiosk{}
	if err := readSample("config/samples/port_v1_kiosk.yaml", obj); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).Build()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
	return kioskReconcilerWith(c), obj
}

var _ = Describe("Kiosk controller with a finalizer", func() {
	It("keeps a Kiosk until the clean-up succeeds", func() {
		r := kioskReconcilerWith(k8sClient)
		obj := &portv1.Kiosk{}
		createSample("config/samples/port_v1_kiosk.yaml", obj)
		failing := &kioskCleaner{err: errors.New("connection refused")}
		finalize := func(cleaner *kioskCleaner) error {
			_, err := r.finalize(ctx, obj, cleaner.clean)
			return err
		}
		Expect(finalize(failing)).To(Succeed())
		Expect(k8sClient.Delete(ctx, obj)).To(Succeed())
		key := client.ObjectKeyFromObject(obj)
		Expect(k8sClient.Get(ctx, key, obj)).To(Succeed())
		Expect(finalize(failing)).To(MatchError(failing.err))
		Expect(k8sClient.Get(ctx, key, obj)).To(Succeed(), "it was deleted without a clean-up")

		working := &kioskCleaner{}
		Expect(finalize(working)).To(Succeed())
		Expect(working.calls).To(Equal(1))
		Expect(controllerutil.ContainsFinalizer(obj, kioskFinalizer)).To(BeFalse())
	})

	It("adds the finalizer in Reconcile, and removes it after the clean-up", func() {
		runController(func(mgr ctrl.Manager, c client.Client) error {
			return kioskReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &portv1.Kiosk{}
		createSample("config/samples/port_v1_kiosk.yaml", obj)
		finalizers := func() ([]string, error) {
			err := k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), obj)
			return obj.Finalizers, client.IgnoreNotFound(err)
		}
		Eventually(finalizers).WithTimeout(time.Minute).Should(ContainElement(kioskFinalizer), "Reconcile set no finalizer")
		Expect(k8sClient.Delete(ctx, obj)).To(Succeed())
		Eventually(func() bool {
			err := k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), obj)
			return apierrors.IsNotFound(err) || !controllerutil.ContainsFinalizer(obj, kioskFinalizer)
		}).WithTimeout(time.Minute).Should(BeTrue(), "the finalizer is still there after the clean-up")
	})
})
