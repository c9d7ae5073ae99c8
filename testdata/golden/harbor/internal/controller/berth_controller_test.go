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

	portv1 "example.org/harbor/api/v1"
	"example.org/harbor/test/utils"
)

// The tests start from the sample that users of the API get, so they keep up
// with the fields of Berth and keep the sample true.
const berthSample = "config/samples/port_v1_berth.yaml"

// These tests need no API server: an in-memory client stands in for it.

func TestBerthReconcilerIgnoresMissingObject(t *testing.T) {
	r, req := newBerthReconciler(t)
	if err := r.Delete(t.Context(), berthIn(t, r, req)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestBerthReconcilerReportsReady(t *testing.T) {
	r, req := newBerthReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := berthIn(t, r, req)
	ready := meta.FindStatusCondition(got.Status.Conditions, "Ready")
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != got.Generation {
		t.Errorf("condition Ready is %+v, want True for generation %d", ready, got.Generation)
	}
}

func TestBerthReconcilerReportsFailure(t *testing.T) {
	r, req := newBerthReconciler(t)
	fail := func(failure error) {
		t.Helper()
		_, err := r.reportReady(t.Context(), berthIn(t, r, req),
			func(context.Context, *portv1.Berth) (ctrl.Result, error) { return ctrl.Result{}, failure })
		if !errors.Is(err, failure) {
			t.Errorf("got the error %v, want %v: without it nobody calls again", err, failure)
		}
	}
	unreachable := errors.New("out of reach")
	fail(unreachable)
	failed := berthIn(t, r, req)
	ready := meta.FindStatusCondition(failed.Status.Conditions, "Ready")
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Message != unreachable.Error() ||
		ready.ObservedGeneration != failed.Generation {
		t.Errorf("condition Ready is %+v, want False for generation %d, with %q", ready, failed.Generation, unreachable)
	}
	fail(unreachable)
	fail(apierrors.NewConflict(schema.GroupResource{Resource: "berths"}, req.Name, errors.New("it has changed")))
	if after := berthIn(t, r, req).ResourceVersion; after != failed.ResourceVersion {
		t.Errorf("the same failure and a conflict were written: resource version %s became %s", failed.ResourceVersion, after)
	}

	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got := berthIn(t, r, req); !meta.IsStatusConditionTrue(got.Status.Conditions, "Ready") {
		t.Errorf("after a success the conditions are %+v", got.Status.Conditions)
	}
}

func TestBerthReconcilerReportsReasonOfFailure(t *testing.T) {
	r, req := newBerthReconciler(t)
	failure := errors.New("wrapped: out of reach")
	fail := func(_ context.Context, obj *portv1.Berth) (ctrl.Result, error) {
		meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "Unreachable", Message: "out of reach",
		})
		return ctrl.Result{}, failure
	}
	if _, err := r.reportReady(t.Context(), berthIn(t, r, req), fail); !errors.Is(err, failure) {
		t.Errorf("got the error %v, want %v: without it nobody calls again", err, failure)
	}
	ready := meta.FindStatusCondition(berthIn(t, r, req).Status.Conditions, "Ready")
	if ready == nil || ready.Reason != "Unreachable" || ready.Message != "out of reach" {
		t.Errorf("condition Ready is %+v, want what was set", ready)
	}
}

func TestBerthReconcilerReportsFailureThatEndsTries(t *testing.T) {
	r, req := newBerthReconciler(t)
	stale := berthIn(t, r, req)
	current := stale.DeepCopy()
	current.Annotations = map[string]string{"example.org/changed": "meanwhile"}
	if err := r.Update(t.Context(), current); err != nil {
		t.Fatal(err)
	}
	refuse := func(context.Context, *portv1.Berth) (ctrl.Result, error) {
		return ctrl.Result{}, reconcile.TerminalError(errors.New("refused"))
	}
	if _, err := r.reportReady(t.Context(), stale, refuse); err == nil || errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("got the error %v, want one that is tried again: the status was not written", err)
	}
	if _, err := r.reportReady(t.Context(), berthIn(t, r, req), refuse); !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("got the error %v, want the one that ends the tries", err)
	}
}

func TestBerthReconcilerReportsWhatIsAwaited(t *testing.T) {
	r, req := newBerthReconciler(t)
	want := ctrl.Result{RequeueAfter: time.Minute}
	await := func(_ context.Context, obj *portv1.Berth) (ctrl.Result, error) {
		meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "Waiting", Message: "it takes its time",
		})
		return want, nil
	}
	var versions [2]string
	for i := range versions {
		got, err := r.reportReady(t.Context(), berthIn(t, r, req), await)
		if err != nil || got != want {
			t.Errorf("got %+v, error %v, want %+v", got, err, want)
		}
		obj := berthIn(t, r, req)
		ready := meta.FindStatusCondition(obj.Status.Conditions, "Ready")
		if ready == nil || ready.Reason != "Waiting" || ready.ObservedGeneration != obj.Generation {
			t.Errorf("condition Ready is %+v, want what was set, for generation %d", ready, obj.Generation)
		}
		versions[i] = obj.ResourceVersion
	}
	if versions[0] != versions[1] {
		t.Error("waiting on, it wrote again")
	}
}

func TestBerthReconcilerSettles(t *testing.T) {
	r, req := newBerthReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	before := berthIn(t, r, req).ResourceVersion
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if after := berthIn(t, r, req).ResourceVersion; after != before {
		t.Errorf("the second reconcile wrote: resource version %s became %s", before, after)
	}
}

func TestBerthReconcilerHonoursDeletion(t *testing.T) {
	r, req := newBerthReconciler(t)
	obj := berthIn(t, r, req)
	// A finalizer holds the object in the state between deletion and its end.
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
	got := berthIn(t, r, req)
	if meta.IsStatusConditionTrue(got.Status.Conditions, "Ready") {
		t.Error("an object that is being deleted was reported as ready")
	}
}

// berthReconcilerWith returns the reconciler that the tests use: with c, and with
// whatever else it comes to need.
func berthReconcilerWith(c client.Client) *BerthReconciler {
	return &BerthReconciler{Client: c, Scheme: c.Scheme()}
}

// newBerthReconciler returns a reconciler whose client holds the sample, in the
// namespace default, and the request to reconcile it.
func newBerthReconciler(t *testing.T) (*BerthReconciler, ctrl.Request) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, portv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &portv1.Berth{}
	if err := utils.ReadSampleAs(berthSample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Namespace = metav1.NamespaceDefault
	obj.Generation = 1
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).Build()
	return berthReconcilerWith(c), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
}

// berthIn returns the object of the request as it is stored.
func berthIn(t *testing.T, r *BerthReconciler, req ctrl.Request) *portv1.Berth {
	t.Helper()
	obj := &portv1.Berth{}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// This spec runs the controller against a real API server.

var _ = Describe("Berth controller", func() {
	It("makes the sample ready", func() {
		By("starting a manager with the controller")
		anyName := true // else no other spec of this process could start the controller
		mgr, err := ctrl.NewManager(cfg, ctrl.Options{
			Scheme:     k8sClient.Scheme(),
			Metrics:    metricsserver.Options{BindAddress: "0"},
			Controller: config.Controller{SkipNameValidation: &anyName},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(berthReconcilerWith(mgr.GetClient()).SetupWithManager(mgr)).To(Succeed())
		running, stop := context.WithCancel(ctx)
		stopped := make(chan error, 1)
		go func() { stopped <- mgr.Start(running) }()
		DeferCleanup(func() {
			stop()
			Eventually(stopped).WithTimeout(time.Minute).Should(Receive(BeNil()))
		})

		By("creating the sample, as strictly checked as by kubectl apply")
		sample, err := utils.ReadSample(berthSample)
		Expect(err).NotTo(HaveOccurred())
		namespaced, err := k8sClient.IsObjectNamespaced(sample)
		Expect(err).NotTo(HaveOccurred())
		if namespaced {
			sample.SetNamespace(metav1.NamespaceDefault)
		}
		err = k8sClient.Create(ctx, sample, client.FieldValidation(metav1.FieldValidationStrict))
		if err != nil { // which says it in a line; a matcher would print the whole answer
			Fail(berthSample + ": " + err.Error())
		}
		DeferCleanup(func() { Expect(utils.Remove(ctx, k8sClient, sample)).To(Succeed()) })

		By("waiting for the condition Ready")
		Eventually(func(g Gomega) {
			got := &portv1.Berth{}
			g.Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(sample), got)).To(Succeed())
			ready := meta.FindStatusCondition(got.Status.Conditions, "Ready")
			g.Expect(ready).NotTo(BeNil(), "no condition Ready yet")
			g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), ready.Message)
			g.Expect(ready.ObservedGeneration).To(Equal(got.Generation))
		}).WithTimeout(time.Minute).WithPolling(100 * time.Millisecond).Should(Succeed())
	})
})
