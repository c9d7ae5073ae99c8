/*
Copyright 2026 Dmitrii Zolotov.

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

	aerospikev1alpha1 "aerospike/api/v1alpha1"
	"aerospike/test/utils"
)

// The tests start from the sample that users of the API get, so they keep up
// with the fields of AerospikeCluster and keep the sample true.
const aerospikeclusterSample = "config/samples/aerospike_v1alpha1_aerospikecluster.yaml"

// These tests need no API server: an in-memory client stands in for it.

func TestAerospikeClusterReconcilerIgnoresMissingObject(t *testing.T) {
	r, req := newAerospikeClusterReconciler(t)
	if err := r.Delete(t.Context(), aerospikeclusterIn(t, r, req)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestAerospikeClusterReconcilerReportsReady(t *testing.T) {
	r, req := newAerospikeClusterReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := aerospikeclusterIn(t, r, req)
	ready := meta.FindStatusCondition(got.Status.Conditions, "Ready")
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != got.Generation {
		t.Errorf("condition Ready is %+v, want True for generation %d", ready, got.Generation)
	}
}

func TestAerospikeClusterReconcilerReportsFailure(t *testing.T) {
	r, req := newAerospikeClusterReconciler(t)
	fail := func(failure error) {
		t.Helper()
		_, err := r.reportReady(t.Context(), aerospikeclusterIn(t, r, req),
			func(context.Context, *aerospikev1alpha1.AerospikeCluster) (ctrl.Result, error) {
				return ctrl.Result{}, failure
			})
		if !errors.Is(err, failure) {
			t.Errorf("got the error %v, want %v: without it nobody calls again", err, failure)
		}
	}
	unreachable := errors.New("out of reach")
	fail(unreachable)
	failed := aerospikeclusterIn(t, r, req)
	ready := meta.FindStatusCondition(failed.Status.Conditions, "Ready")
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Message != unreachable.Error() ||
		ready.ObservedGeneration != failed.Generation {
		t.Errorf("condition Ready is %+v, want False for generation %d, with %q", ready, failed.Generation, unreachable)
	}
	fail(unreachable)
	fail(apierrors.NewConflict(schema.GroupResource{Resource: "aerospikeclusters"}, req.Name, errors.New("it has changed")))
	if after := aerospikeclusterIn(t, r, req).ResourceVersion; after != failed.ResourceVersion {
		t.Errorf("the same failure and a conflict were written: resource version %s became %s", failed.ResourceVersion, after)
	}

	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got := aerospikeclusterIn(t, r, req); !meta.IsStatusConditionTrue(got.Status.Conditions, "Ready") {
		t.Errorf("after a success the conditions are %+v", got.Status.Conditions)
	}
}

func TestAerospikeClusterReconcilerReportsReasonOfFailure(t *testing.T) {
	r, req := newAerospikeClusterReconciler(t)
	failure := errors.New("wrapped: out of reach")
	fail := func(_ context.Context, obj *aerospikev1alpha1.AerospikeCluster) (ctrl.Result, error) {
		meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "Unreachable", Message: "out of reach",
		})
		return ctrl.Result{}, failure
	}
	if _, err := r.reportReady(t.Context(), aerospikeclusterIn(t, r, req), fail); !errors.Is(err, failure) {
		t.Errorf("got the error %v, want %v: without it nobody calls again", err, failure)
	}
	ready := meta.FindStatusCondition(aerospikeclusterIn(t, r, req).Status.Conditions, "Ready")
	if ready == nil || ready.Reason != "Unreachable" || ready.Message != "out of reach" {
		t.Errorf("condition Ready is %+v, want what was set", ready)
	}
}

func TestAerospikeClusterReconcilerReportsFailureThatEndsTries(t *testing.T) {
	r, req := newAerospikeClusterReconciler(t)
	stale := aerospikeclusterIn(t, r, req)
	current := stale.DeepCopy()
	current.Annotations = map[string]string{"example.org/changed": "meanwhile"}
	if err := r.Update(t.Context(), current); err != nil {
		t.Fatal(err)
	}
	refuse := func(context.Context, *aerospikev1alpha1.AerospikeCluster) (ctrl.Result, error) {
		return ctrl.Result{}, reconcile.TerminalError(errors.New("refused"))
	}
	if _, err := r.reportReady(t.Context(), stale, refuse); err == nil || errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("got the error %v, want one that is tried again: the status was not written", err)
	}
	if _, err := r.reportReady(t.Context(), aerospikeclusterIn(t, r, req), refuse); !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("got the error %v, want the one that ends the tries", err)
	}
}

func TestAerospikeClusterReconcilerReportsWhatIsAwaited(t *testing.T) {
	r, req := newAerospikeClusterReconciler(t)
	want := ctrl.Result{RequeueAfter: time.Minute}
	await := func(_ context.Context, obj *aerospikev1alpha1.AerospikeCluster) (ctrl.Result, error) {
		meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "Waiting", Message: "it takes its time",
		})
		return want, nil
	}
	var versions [2]string
	for i := range versions {
		got, err := r.reportReady(t.Context(), aerospikeclusterIn(t, r, req), await)
		if err != nil || got != want {
			t.Errorf("got %+v, error %v, want %+v", got, err, want)
		}
		obj := aerospikeclusterIn(t, r, req)
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

func TestAerospikeClusterReconcilerSettles(t *testing.T) {
	r, req := newAerospikeClusterReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	before := aerospikeclusterIn(t, r, req).ResourceVersion
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if after := aerospikeclusterIn(t, r, req).ResourceVersion; after != before {
		t.Errorf("the second reconcile wrote: resource version %s became %s", before, after)
	}
}

func TestAerospikeClusterReconcilerHonoursDeletion(t *testing.T) {
	r, req := newAerospikeClusterReconciler(t)
	obj := aerospikeclusterIn(t, r, req)
	// A finalizer holds the object in the state between deletion and its end.
	obj.Finalizers = append(obj.Finalizers, "aerospike.dzolotov.tech/test")
	if err := r.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := aerospikeclusterIn(t, r, req)
	if meta.IsStatusConditionTrue(got.Status.Conditions, "Ready") {
		t.Error("an object that is being deleted was reported as ready")
	}
}

// aerospikeclusterReconcilerWith returns the reconciler that the tests use: with c, and with
// whatever else it comes to need.
func aerospikeclusterReconcilerWith(c client.Client) *AerospikeClusterReconciler {
	return &AerospikeClusterReconciler{Client: c, Scheme: c.Scheme()}
}

// newAerospikeClusterReconciler returns a reconciler whose client holds the sample, in the
// namespace default, and the request to reconcile it.
func newAerospikeClusterReconciler(t *testing.T) (*AerospikeClusterReconciler, ctrl.Request) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, aerospikev1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &aerospikev1alpha1.AerospikeCluster{}
	if err := utils.ReadSampleAs(aerospikeclusterSample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Namespace = metav1.NamespaceDefault
	obj.Generation = 1
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).Build()
	return aerospikeclusterReconcilerWith(c), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
}

// aerospikeclusterIn returns the object of the request as it is stored.
func aerospikeclusterIn(t *testing.T, r *AerospikeClusterReconciler, req ctrl.Request) *aerospikev1alpha1.AerospikeCluster {
	t.Helper()
	obj := &aerospikev1alpha1.AerospikeCluster{}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// This spec runs the controller against a real API server.

var _ = Describe("AerospikeCluster controller", func() {
	It("makes the sample ready", func() {
		By("starting a manager with the controller")
		anyName := true // else no other spec of this process could start the controller
		mgr, err := ctrl.NewManager(cfg, ctrl.Options{
			Scheme:     k8sClient.Scheme(),
			Metrics:    metricsserver.Options{BindAddress: "0"},
			Controller: config.Controller{SkipNameValidation: &anyName},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(aerospikeclusterReconcilerWith(mgr.GetClient()).SetupWithManager(mgr)).To(Succeed())
		running, stop := context.WithCancel(ctx)
		stopped := make(chan error, 1)
		go func() { stopped <- mgr.Start(running) }()
		DeferCleanup(func() {
			stop()
			Eventually(stopped).WithTimeout(time.Minute).Should(Receive(BeNil()))
		})

		By("creating the sample, as strictly checked as by kubectl apply")
		sample, err := utils.ReadSample(aerospikeclusterSample)
		Expect(err).NotTo(HaveOccurred())
		namespaced, err := k8sClient.IsObjectNamespaced(sample)
		Expect(err).NotTo(HaveOccurred())
		if namespaced {
			sample.SetNamespace(metav1.NamespaceDefault)
		}
		err = k8sClient.Create(ctx, sample, client.FieldValidation(metav1.FieldValidationStrict))
		if err != nil { // which says it in a line; a matcher would print the whole answer
			Fail(aerospikeclusterSample + ": " + err.Error())
		}
		DeferCleanup(func() { Expect(utils.Remove(ctx, k8sClient, sample)).To(Succeed()) })

		By("waiting for the condition Ready")
		Eventually(func(g Gomega) {
			got := &aerospikev1alpha1.AerospikeCluster{}
			g.Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(sample), got)).To(Succeed())
			ready := meta.FindStatusCondition(got.Status.Conditions, "Ready")
			g.Expect(ready).NotTo(BeNil(), "no condition Ready yet")
			g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), ready.Message)
			g.Expect(ready.ObservedGeneration).To(Equal(got.Generation))
		}).WithTimeout(time.Minute).WithPolling(100 * time.Millisecond).Should(Succeed())
	})
})
