package controller

// These tests are for sentinel_status.go and use functions of
// sentinel_controller_test.go. Delete this file together with either of them.

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
)

func TestSentinelReconcilerReportsReady(t *testing.T) {
	r, req := newSentinelReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := sentinelIn(t, r, req)
	ready := meta.FindStatusCondition(got.Status.Conditions, "Ready")
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != got.Generation {
		t.Errorf("condition Ready is %+v, want True for generation %d", ready, got.Generation)
	}
}

func TestSentinelReconcilerReportsFailure(t *testing.T) {
	r, req := newSentinelReconciler(t)
	fail := func(failure error) {
		t.Helper()
		_, err := r.reportReady(t.Context(), sentinelIn(t, r, req),
			func(context.Context, *cachev1alpha1.Sentinel) (ctrl.Result, error) { return ctrl.Result{}, failure })
		if !errors.Is(err, failure) {
			t.Errorf("got the error %v, want %v: without it there is no retry", err, failure)
		}
	}
	unreachable := errors.New("connection refused")
	fail(unreachable)
	failed := sentinelIn(t, r, req)
	ready := meta.FindStatusCondition(failed.Status.Conditions, "Ready")
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Message != unreachable.Error() ||
		ready.ObservedGeneration != failed.Generation {
		t.Errorf("condition Ready is %+v, want False for generation %d, with %q", ready, failed.Generation, unreachable)
	}
	fail(unreachable)
	fail(apierrors.NewConflict(schema.GroupResource{Resource: "sentinels"}, req.Name, errors.New("the object has changed")))
	if after := sentinelIn(t, r, req).Status; !equality.Semantic.DeepEqual(failed.Status, after) {
		t.Errorf("the status changed for the same failure or for a conflict from %+v to %+v", failed.Status, after)
	}

	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got := sentinelIn(t, r, req); !meta.IsStatusConditionTrue(got.Status.Conditions, "Ready") {
		t.Errorf("after a success the conditions are %+v", got.Status.Conditions)
	}
}

func TestSentinelReconcilerReportsReasonOfFailure(t *testing.T) {
	r, req := newSentinelReconciler(t)
	failure := errors.New("wrapped: connection refused")
	fail := func(_ context.Context, obj *cachev1alpha1.Sentinel) (ctrl.Result, error) {
		meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "Unreachable", Message: "connection refused",
		})
		return ctrl.Result{}, failure
	}
	if _, err := r.reportReady(t.Context(), sentinelIn(t, r, req), fail); !errors.Is(err, failure) {
		t.Errorf("got the error %v, want %v: without it there is no retry", err, failure)
	}
	ready := meta.FindStatusCondition(sentinelIn(t, r, req).Status.Conditions, "Ready")
	if ready == nil || ready.Reason != "Unreachable" || ready.Message != "connection refused" {
		t.Errorf("condition Ready is %+v, want the one that reconcile set", ready)
	}
}

func TestSentinelReconcilerReportsFailureThatEndsTries(t *testing.T) {
	r, req := newSentinelReconciler(t)
	unavailable := errors.New("the API server is unavailable")
	written := r.Client
	r.Client = interceptor.NewClient(written.(client.WithWatch), interceptor.Funcs{
		SubResourceApply: func(context.Context, client.Client, string, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
			return unavailable
		},
	})
	refuse := func(context.Context, *cachev1alpha1.Sentinel) (ctrl.Result, error) {
		return ctrl.Result{}, reconcile.TerminalError(errors.New("refused"))
	}
	_, err := r.reportReady(t.Context(), sentinelIn(t, r, req), refuse)
	if !errors.Is(err, unavailable) || errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("got the error %v, want one that is retried: the status was not written", err)
	}
	r.Client = written
	if _, err := r.reportReady(t.Context(), sentinelIn(t, r, req), refuse); !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("got the error %v, want the terminal error", err)
	}
}

func TestSentinelReconcilerReportsWhatIsAwaited(t *testing.T) {
	r, req := newSentinelReconciler(t)
	want := ctrl.Result{RequeueAfter: time.Minute}
	await := func(_ context.Context, obj *cachev1alpha1.Sentinel) (ctrl.Result, error) {
		meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "Waiting", Message: "waiting for the backend",
		})
		return want, nil
	}
	var statuses [2]cachev1alpha1.SentinelStatus
	for i := range statuses {
		got, err := r.reportReady(t.Context(), sentinelIn(t, r, req), await)
		if err != nil || got != want {
			t.Errorf("got %+v, error %v, want %+v", got, err, want)
		}
		obj := sentinelIn(t, r, req)
		ready := meta.FindStatusCondition(obj.Status.Conditions, "Ready")
		if ready == nil || ready.Reason != "Waiting" || ready.ObservedGeneration != obj.Generation {
			t.Errorf("condition Ready is %+v, want the one that reconcile set, for generation %d", ready, obj.Generation)
		}
		statuses[i] = obj.Status
	}
	if !equality.Semantic.DeepEqual(statuses[0], statuses[1]) {
		t.Errorf("while waiting, the status changed from %+v to %+v", statuses[0], statuses[1])
	}
}

func TestSentinelReconcilerHonoursDeletion(t *testing.T) {
	r, req := newSentinelReconciler(t)
	obj := sentinelIn(t, r, req)
	// A finalizer keeps the object in the API after its deletion.
	obj.Finalizers = append(obj.Finalizers, "cache.example.org/test")
	if err := r.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := sentinelIn(t, r, req)
	if meta.IsStatusConditionTrue(got.Status.Conditions, "Ready") {
		t.Error("an object that is being deleted was reported as ready")
	}
}

var _ = Describe("Sentinel controller that reports its result", func() {
	It("makes the sample ready", func() {
		runController(func(mgr ctrl.Manager, c client.Client) error {
			return sentinelReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &cachev1alpha1.Sentinel{}
		createSample(sentinelSample, obj)
		Eventually(func(g Gomega) {
			g.Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), obj)).To(Succeed())
			ready := meta.FindStatusCondition(obj.Status.Conditions, "Ready")
			g.Expect(ready).NotTo(BeNil(), "no condition Ready yet")
			g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), ready.Message)
			g.Expect(ready.ObservedGeneration).To(Equal(obj.Generation))
		}).WithTimeout(time.Minute).WithPolling(100 * time.Millisecond).Should(Succeed())
	})
})
