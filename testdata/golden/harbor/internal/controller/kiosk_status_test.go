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

// These tests are for kiosk_status.go and use functions of
// kiosk_controller_test.go. Delete this file together with either of them.

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	portv1 "example.org/harbor/api/v1"
)

func TestKioskReconcilerReportsReady(t *testing.T) {
	r, req := newKioskReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := kioskDeploymentAvailable(t.Context(), r.Client, req.NamespacedName); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := kioskIn(t, r, req)
	ready := meta.FindStatusCondition(got.Status.Conditions, "Available")
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != got.Generation {
		t.Errorf("condition Available is %+v, want True for generation %d", ready, got.Generation)
	}
}

func TestKioskReconcilerReportsFailure(t *testing.T) {
	r, req := newKioskReconciler(t)
	fail := func(failure error) {
		t.Helper()
		_, err := r.reportReady(t.Context(), kioskIn(t, r, req),
			func(context.Context, *portv1.Kiosk) (ctrl.Result, error) { return ctrl.Result{}, failure })
		if !errors.Is(err, failure) {
			t.Errorf("got the error %v, want %v: without it there is no retry", err, failure)
		}
	}
	unreachable := errors.New("connection refused")
	fail(unreachable)
	failed := kioskIn(t, r, req)
	ready := meta.FindStatusCondition(failed.Status.Conditions, "Available")
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Message != unreachable.Error() ||
		ready.ObservedGeneration != failed.Generation {
		t.Errorf("condition Available is %+v, want False for generation %d, with %q", ready, failed.Generation, unreachable)
	}
	fail(unreachable)
	fail(apierrors.NewConflict(schema.GroupResource{Resource: "kiosks"}, req.Name, errors.New("the object has changed")))
	if after := kioskIn(t, r, req).ResourceVersion; after != failed.ResourceVersion {
		t.Errorf("the status was written again for the same failure or for a conflict: resource version %s became %s", failed.ResourceVersion, after)
	}

	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := kioskDeploymentAvailable(t.Context(), r.Client, req.NamespacedName); err != nil {
		t.Fatal(err)
	}

	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got := kioskIn(t, r, req); !meta.IsStatusConditionTrue(got.Status.Conditions, "Available") {
		t.Errorf("after a success the conditions are %+v", got.Status.Conditions)
	}
}

func TestKioskReconcilerReportsReasonOfFailure(t *testing.T) {
	r, req := newKioskReconciler(t)
	failure := errors.New("wrapped: connection refused")
	fail := func(_ context.Context, obj *portv1.Kiosk) (ctrl.Result, error) {
		meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
			Type: "Available", Status: metav1.ConditionFalse, Reason: "Unreachable", Message: "connection refused",
		})
		return ctrl.Result{}, failure
	}
	if _, err := r.reportReady(t.Context(), kioskIn(t, r, req), fail); !errors.Is(err, failure) {
		t.Errorf("got the error %v, want %v: without it there is no retry", err, failure)
	}
	ready := meta.FindStatusCondition(kioskIn(t, r, req).Status.Conditions, "Available")
	if ready == nil || ready.Reason != "Unreachable" || ready.Message != "connection refused" {
		t.Errorf("condition Available is %+v, want the one that reconcile set", ready)
	}
}

func TestKioskReconcilerReportsFailureThatEndsTries(t *testing.T) {
	r, req := newKioskReconciler(t)
	stale := kioskIn(t, r, req)
	current := stale.DeepCopy()
	current.Annotations = map[string]string{"example.org/changed": "meanwhile"}
	if err := r.Update(t.Context(), current); err != nil {
		t.Fatal(err)
	}
	refuse := func(context.Context, *portv1.Kiosk) (ctrl.Result, error) {
		return ctrl.Result{}, reconcile.TerminalError(errors.New("refused"))
	}
	if _, err := r.reportReady(t.Context(), stale, refuse); err == nil || errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("got the error %v, want one that is retried: the status was not written", err)
	}
	if _, err := r.reportReady(t.Context(), kioskIn(t, r, req), refuse); !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("got the error %v, want the terminal error", err)
	}
}

func TestKioskReconcilerReportsWhatIsAwaited(t *testing.T) {
	r, req := newKioskReconciler(t)
	want := ctrl.Result{RequeueAfter: time.Minute}
	await := func(_ context.Context, obj *portv1.Kiosk) (ctrl.Result, error) {
		meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
			Type: "Available", Status: metav1.ConditionFalse, Reason: "Waiting", Message: "waiting for the backend",
		})
		return want, nil
	}
	var versions [2]string
	for i := range versions {
		got, err := r.reportReady(t.Context(), kioskIn(t, r, req), await)
		if err != nil || got != want {
			t.Errorf("got %+v, error %v, want %+v", got, err, want)
		}
		obj := kioskIn(t, r, req)
		ready := meta.FindStatusCondition(obj.Status.Conditions, "Available")
		if ready == nil || ready.Reason != "Waiting" || ready.ObservedGeneration != obj.Generation {
			t.Errorf("condition Available is %+v, want the one that reconcile set, for generation %d", ready, obj.Generation)
		}
		versions[i] = obj.ResourceVersion
	}
	if versions[0] != versions[1] {
		t.Error("the status was written again while waiting")
	}
}

func TestKioskReconcilerHonoursDeletion(t *testing.T) {
	r, req := newKioskReconciler(t)
	obj := kioskIn(t, r, req)
	// A finalizer keeps the object in the API after its deletion.
	obj.Finalizers = append(obj.Finalizers, "port.example.org/test")
	if err := r.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := kioskIn(t, r, req)
	if meta.IsStatusConditionTrue(got.Status.Conditions, "Available") {
		t.Error("an object that is being deleted was reported as ready")
	}
}

var _ = Describe("Kiosk controller that reports its result", func() {
	It("makes the sample ready", func() {
		runController(func(mgr ctrl.Manager, c client.Client) error {
			return kioskReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &portv1.Kiosk{}
		createSample(kioskSample, obj)
		Eventually(func(g Gomega) {
			g.Expect(kioskDeploymentAvailable(ctx, k8sClient, client.ObjectKeyFromObject(obj))).To(Succeed())
			g.Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), obj)).To(Succeed())
			ready := meta.FindStatusCondition(obj.Status.Conditions, "Available")
			g.Expect(ready).NotTo(BeNil(), "no condition Available yet")
			g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), ready.Message)
			g.Expect(ready.ObservedGeneration).To(Equal(obj.Generation))
		}).WithTimeout(time.Minute).WithPolling(100 * time.Millisecond).Should(Succeed())
	})
})
