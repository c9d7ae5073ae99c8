package controller

// These tests are for sentinel_finalizer.go and use a function of
// sentinel_controller_test.go. Delete this file together with either of them.

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

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
)

// sentinelCleaner replaces cleanUp: it counts its calls, and returns result and err.
type sentinelCleaner struct {
	calls  int
	result ctrl.Result
	err    error
}

func (c *sentinelCleaner) clean(context.Context, *cachev1alpha1.Sentinel) (ctrl.Result, error) {
	c.calls++
	return c.result, c.err
}

func TestSentinelReconcilerFinalizesBeforeAnythingElse(t *testing.T) {
	r, obj := newSentinelReconcilerToFinalize(t)
	cleaner := &sentinelCleaner{}
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
	if !controllerutil.ContainsFinalizer(obj, sentinelFinalizer) {
		t.Errorf("finalizers are %q, without %s", obj.Finalizers, sentinelFinalizer)
	}
	if versions[0] != versions[1] {
		t.Error("the second call changed the object")
	}
	if cleaner.calls > 0 {
		t.Error("clean was called for an object that is not being deleted")
	}
}

func TestSentinelReconcilerMakesNothingForObjectThatIsGone(t *testing.T) {
	r, obj := newSentinelReconcilerToFinalize(t)
	if err := r.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	// The cache may still return the old object.
	if _, err := r.finalize(t.Context(), obj, r.cleanUp); err == nil {
		t.Error("no error: Reconcile would continue without the finalizer")
	}
}

func TestSentinelReconcilerHoldsObjectUntilCleanedUp(t *testing.T) {
	r, obj := newSentinelReconcilerToFinalize(t)
	failing := &sentinelCleaner{err: errors.New("connection refused")}
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
	waiting := &sentinelCleaner{result: ctrl.Result{RequeueAfter: time.Minute}}
	if result, err := r.finalize(t.Context(), obj, waiting.clean); err != nil || result != waiting.result {
		t.Errorf("got %+v, error %v, want %+v: without it there is no retry", result, err, waiting.result)
	}
	if err := r.Get(t.Context(), name, obj); err != nil {
		t.Fatalf("the object after a failed and an unfinished clean-up: %v", err)
	}
	working := &sentinelCleaner{}
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

func TestSentinelReconcilerLeavesWhatOthersFinalize(t *testing.T) {
	r, obj := newSentinelReconcilerToFinalize(t)
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
	cleaner := &sentinelCleaner{}
	if _, err := r.finalize(t.Context(), obj, cleaner.clean); err != nil || cleaner.calls > 0 {
		t.Errorf("clean was called %d times for an object without the finalizer, error %v", cleaner.calls, err)
	}
}

func TestSentinelReconcilerReportsCleanUp(t *testing.T) {
	r, obj := newSentinelReconcilerToFinalize(t)
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
		if c, ok := c.(map[string]any); ok && c["type"] == "Ready" && c["status"] == "True" {
			t.Error("an object that is being deleted is still reported as ready")
		}
	}
}

// newSentinelReconcilerToFinalize returns a reconciler whose in-memory client stores
// the sample, and the stored sample.
func newSentinelReconcilerToFinalize(t *testing.T) (*SentinelReconciler, *cachev1alpha1.Sentinel) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, cachev1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &cachev1alpha1.Sentinel{}
	if err := readSample("config/samples/cache_v1alpha1_sentinel.yaml", obj); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).Build()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
	return sentinelReconcilerWith(c), obj
}

var _ = Describe("Sentinel controller with a finalizer", func() {
	It("keeps a Sentinel until the clean-up succeeds", func() {
		r := sentinelReconcilerWith(k8sClient)
		obj := &cachev1alpha1.Sentinel{}
		createSample("config/samples/cache_v1alpha1_sentinel.yaml", obj)
		failing := &sentinelCleaner{err: errors.New("connection refused")}
		finalize := func(cleaner *sentinelCleaner) error {
			_, err := r.finalize(ctx, obj, cleaner.clean)
			return err
		}
		Expect(finalize(failing)).To(Succeed())
		Expect(k8sClient.Delete(ctx, obj)).To(Succeed())
		key := client.ObjectKeyFromObject(obj)
		Expect(k8sClient.Get(ctx, key, obj)).To(Succeed())
		Expect(finalize(failing)).To(MatchError(failing.err))
		Expect(k8sClient.Get(ctx, key, obj)).To(Succeed(), "it was deleted without a clean-up")

		working := &sentinelCleaner{}
		Expect(finalize(working)).To(Succeed())
		Expect(working.calls).To(Equal(1))
		Expect(controllerutil.ContainsFinalizer(obj, sentinelFinalizer)).To(BeFalse())
	})

	It("adds the finalizer in Reconcile, and removes it after the clean-up", func() {
		runController(func(mgr ctrl.Manager, c client.Client) error {
			return sentinelReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &cachev1alpha1.Sentinel{}
		createSample("config/samples/cache_v1alpha1_sentinel.yaml", obj)
		finalizers := func() ([]string, error) {
			err := k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), obj)
			return obj.Finalizers, client.IgnoreNotFound(err)
		}
		Eventually(finalizers).WithTimeout(time.Minute).Should(ContainElement(sentinelFinalizer), "Reconcile set no finalizer")
		Expect(k8sClient.Delete(ctx, obj)).To(Succeed())
		Eventually(func() bool {
			err := k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), obj)
			return apierrors.IsNotFound(err) || !controllerutil.ContainsFinalizer(obj, sentinelFinalizer)
		}).WithTimeout(time.Minute).Should(BeTrue(), "the finalizer is still there after the clean-up")
	})
})
