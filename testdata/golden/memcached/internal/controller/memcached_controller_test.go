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

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
	"example.org/memcached/test/utils"
)

// The tests use the sample in config/samples, which also verifies that the sample
// matches the fields of Memcached.
const memcachedSample = "config/samples/cache_v1alpha1_memcached.yaml"

// These tests use an in-memory client and need no API server.

func TestMemcachedReconcilerIgnoresMissingObject(t *testing.T) {
	r, req := newMemcachedReconciler(t)
	if err := r.Delete(t.Context(), memcachedIn(t, r, req)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestMemcachedReconcilerSettles(t *testing.T) {
	r, req := newMemcachedReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	before := memcachedIn(t, r, req).ResourceVersion
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if after := memcachedIn(t, r, req).ResourceVersion; after != before {
		t.Errorf("the second reconciliation changed the object: resource version %s became %s", before, after)
	}
}

// memcachedReconcilerWith returns the reconciler under test, which uses the client c. Set
// other fields that your reconciler needs here.
func memcachedReconcilerWith(c client.Client) *MemcachedReconciler {
	return &MemcachedReconciler{Client: c, Scheme: c.Scheme(), Recorder: &events.FakeRecorder{}}
}

// newMemcachedReconciler returns a reconciler whose client stores the sample in the
// namespace default, and the request to reconcile the sample.
func newMemcachedReconciler(t *testing.T) (*MemcachedReconciler, ctrl.Request) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, cachev1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &cachev1alpha1.Memcached{}
	if err := utils.ReadSampleAs(memcachedSample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Namespace = metav1.NamespaceDefault
	obj.Generation = 1
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).Build()
	return memcachedReconcilerWith(c), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
}

// memcachedIn returns the stored object that the request names.
func memcachedIn(t *testing.T, r *MemcachedReconciler, req ctrl.Request) *cachev1alpha1.Memcached {
	t.Helper()
	obj := &cachev1alpha1.Memcached{}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// This spec runs the controller against a real API server.

var _ = Describe("Memcached controller", func() {
	It("reconciles the sample", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return memcachedReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &cachev1alpha1.Memcached{}
		createSample(memcachedSample, obj)
		counting.settled(obj)
	})
})
