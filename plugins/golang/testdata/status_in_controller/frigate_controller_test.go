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
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	shipv1 "example.org/fleet/api/v1"
	"example.org/fleet/test/utils"
)

// The tests use the sample in config/samples, which also verifies that the sample
// matches the fields of Frigate.
const frigateSample = "config/samples/ship_v1_frigate.yaml"

// These tests use an in-memory client and need no API server.

func TestFrigateReconcilerIgnoresMissingObject(t *testing.T) {
	r, req := newFrigateReconciler(t)
	if err := r.Delete(t.Context(), frigateIn(t, r, req)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestFrigateReconcilerReportsReady(t *testing.T) {
	r, req := newFrigateReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := frigateIn(t, r, req)
	ready := meta.FindStatusCondition(got.Status.Conditions, "Ready")
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != got.Generation {
		t.Errorf("condition Ready is %+v, want True for generation %d", ready, got.Generation)
	}
}

func TestFrigateReconcilerReportsFailure(t *testing.T) {
	r, req := newFrigateReconciler(t)
	fail := func(failure error) {
		t.Helper()
		_, err := r.reportReady(t.Context(), frigateIn(t, r, req),
			func(context.Context, *shipv1.Frigate) (ctrl.Result, error) { return ctrl.Result{}, failure })
		if !errors.Is(err, failure) {
			t.Errorf("got the error %v, want %v: without it there is no retry", err, failure)
		}
	}
	unreachable := errors.New("connection refused")
	fail(unreachable)
	failed := frigateIn(t, r, req)
	ready := meta.FindStatusCondition(failed.Status.Conditions, "Ready")
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Message != unreachable.Error() ||
		ready.ObservedGeneration != failed.Generation {
		t.Errorf("condition Ready is %+v, want False for generation %d, with %q", ready, failed.Generation, unreachable)
	}
	fail(unreachable)
	fail(apierrors.NewConflict(schema.GroupResource{Resource: "frigates"}, req.Name, errors.New("the object has changed")))
	if after := frigateIn(t, r, req).ResourceVersion; after != failed.ResourceVersion {
		t.Errorf("the status was written again for the same failure or for a conflict: resource version %s became %s", failed.ResourceVersion, after)
	}

	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got := frigateIn(t, r, req); !meta.IsStatusConditionTrue(got.Status.Conditions, "Ready") {
		t.Errorf("after a success the conditions are %+v", got.Status.Conditions)
	}
}

func TestFrigateReconcilerReportsReasonOfFailure(t *testing.T) {
	r, req := newFrigateReconciler(t)
	failure := errors.New("wrapped: connection refused")
	fail := func(_ context.Context, obj *shipv1.Frigate) (ctrl.Result, error) {
		meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "Unreachable", Message: "connection refused",
		})
		return ctrl.Result{}, failure
	}
	if _, err := r.reportReady(t.Context(), frigateIn(t, r, req), fail); !errors.Is(err, failure) {
		t.Errorf("got the error %v, want %v: without it there is no retry", err, failure)
	}
	ready := meta.FindStatusCondition(frigateIn(t, r, req).Status.Conditions, "Ready")
	if ready == nil || ready.Reason != "Unreachable" || ready.Message != "connection refused" {
		t.Errorf("condition Ready is %+v, want the one that reconcile set", ready)
	}
}

func TestFrigateReconcilerReportsFailureThatEndsTries(t *testing.T) {
	r, req := newFrigateReconciler(t)
	stale := frigateIn(t, r, req)
	current := stale.DeepCopy()
	current.Annotations = map[string]string{"example.org/changed": "meanwhile"}
	if err := r.Update(t.Context(), current); err != nil {
		t.Fatal(err)
	}
	refuse := func(context.Context, *shipv1.Frigate) (ctrl.Result, error) {
		return ctrl.Result{}, reconcile.TerminalError(errors.New("refused"))
	}
	if _, err := r.reportReady(t.Context(), stale, refuse); err == nil || errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("got the error %v, want one that is retried: the status was not written", err)
	}
	if _, err := r.reportReady(t.Context(), frigateIn(t, r, req), refuse); !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("got the error %v, want the terminal error", err)
	}
}

func TestFrigateReconcilerReportsWhatIsAwaited(t *testing.T) {
	r, req := newFrigateReconciler(t)
	want := ctrl.Result{RequeueAfter: time.Minute}
	await := func(_ context.Context, obj *shipv1.Frigate) (ctrl.Result, error) {
		meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "Waiting", Message: "waiting for the backend",
		})
		return want, nil
	}
	var versions [2]string
	for i := range versions {
		got, err := r.reportReady(t.Context(), frigateIn(t, r, req), await)
		if err != nil || got != want {
			t.Errorf("got %+v, error %v, want %+v", got, err, want)
		}
		obj := frigateIn(t, r, req)
		ready := meta.FindStatusCondition(obj.Status.Conditions, "Ready")
		if ready == nil || ready.Reason != "Waiting" || ready.ObservedGeneration != obj.Generation {
			t.Errorf("condition Ready is %+v, want the one that reconcile set, for generation %d", ready, obj.Generation)
		}
		versions[i] = obj.ResourceVersion
	}
	if versions[0] != versions[1] {
		t.Error("the status was written again while waiting")
	}
}

func TestFrigateReconcilerSettles(t *testing.T) {
	r, req := newFrigateReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	before := frigateIn(t, r, req).ResourceVersion
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if after := frigateIn(t, r, req).ResourceVersion; after != before {
		t.Errorf("the second reconciliation changed the object: resource version %s became %s", before, after)
	}
}

func TestFrigateReconcilerHonoursDeletion(t *testing.T) {
	r, req := newFrigateReconciler(t)
	obj := frigateIn(t, r, req)
	// A finalizer keeps the object in the API after its deletion.
	obj.Finalizers = append(obj.Finalizers, "ship.example.org/test")
	if err := r.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := frigateIn(t, r, req)
	if meta.IsStatusConditionTrue(got.Status.Conditions, "Ready") {
		t.Error("an object that is being deleted was reported as ready")
	}
}

// frigateReconcilerWith returns the reconciler under test, which uses the client c. Set
// other fields that your reconciler needs here.
func frigateReconcilerWith(c client.Client) *FrigateReconciler {
	return &FrigateReconciler{Client: c, Scheme: c.Scheme()}
}

// newFrigateReconciler returns a reconciler whose client stores the sample in the
// namespace default, and the request to reconcile the sample.
func newFrigateReconciler(t *testing.T) (*FrigateReconciler, ctrl.Request) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, shipv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &shipv1.Frigate{}
	if err := utils.ReadSampleAs(frigateSample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Namespace = metav1.NamespaceDefault
	obj.Generation = 1
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).Build()
	return frigateReconcilerWith(c), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
}

// frigateIn returns the stored object that the request names.
func frigateIn(t *testing.T, r *FrigateReconciler, req ctrl.Request) *shipv1.Frigate {
	t.Helper()
	obj := &shipv1.Frigate{}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// This spec runs the controller against a real API server.

var _ = Describe("Frigate controller", func() {
	It("makes the sample ready", func() {
		By("starting a manager with the controller")
		anyName := true // so that other specs in this process can start the controller too
		mgr, err := ctrl.NewManager(cfg, ctrl.Options{
			Scheme:     k8sClient.Scheme(),
			Metrics:    metricsserver.Options{BindAddress: "0"},
			Controller: config.Controller{SkipNameValidation: &anyName},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(frigateReconcilerWith(mgr.GetClient()).SetupWithManager(mgr)).To(Succeed())
		running, stop := context.WithCancel(ctx)
		stopped := make(chan error, 1)
		go func() { stopped <- mgr.Start(running) }()
		DeferCleanup(func() {
			stop()
			Eventually(stopped).WithTimeout(time.Minute).Should(Receive(BeNil()))
		})

		By("creating the sample with strict field validation")
		sample, err := utils.ReadSample(frigateSample)
		Expect(err).NotTo(HaveOccurred())
		namespaced, err := k8sClient.IsObjectNamespaced(sample)
		Expect(err).NotTo(HaveOccurred())
		if namespaced {
			sample.SetNamespace(metav1.NamespaceDefault)
		}
		err = k8sClient.Create(ctx, sample, client.FieldValidation(metav1.FieldValidationStrict))
		if err != nil { // one line; a matcher would print the whole response
			Fail(frigateSample + ": " + err.Error())
		}
		DeferCleanup(func() { Expect(utils.Remove(ctx, k8sClient, sample)).To(Succeed()) })

		By("waiting for the condition Ready")
		Eventually(func(g Gomega) {
			got := &shipv1.Frigate{}
			g.Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(sample), got)).To(Succeed())
			ready := meta.FindStatusCondition(got.Status.Conditions, "Ready")
			g.Expect(ready).NotTo(BeNil(), "no condition Ready yet")
			g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), ready.Message)
			g.Expect(ready.ObservedGeneration).To(Equal(got.Generation))
		}).WithTimeout(time.Minute).WithPolling(100 * time.Millisecond).Should(Succeed())
	})
})
