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
// matches the fields of Busybox.
const busyboxSample = "config/samples/cache_v1alpha1_busybox.yaml"

// These tests use an in-memory client and need no API server.

func TestBusyboxReconcilerIgnoresMissingObject(t *testing.T) {
	r, req := newBusyboxReconciler(t)
	if err := r.Delete(t.Context(), busyboxIn(t, r, req)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestBusyboxReconcilerSettles(t *testing.T) {
	r, req := newBusyboxReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	before := busyboxIn(t, r, req).ResourceVersion
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if after := busyboxIn(t, r, req).ResourceVersion; after != before {
		t.Errorf("the second reconciliation changed the object: resource version %s became %s", before, after)
	}
}

// busyboxReconcilerWith returns the reconciler under test, which uses the client c. Set
// other fields that your reconciler needs here.
func busyboxReconcilerWith(c client.Client) *BusyboxReconciler {
	return &BusyboxReconciler{Client: c, Scheme: c.Scheme(), Recorder: &events.FakeRecorder{}}
}

// newBusyboxReconciler returns a reconciler whose client stores the sample in the
// namespace default, and the request to reconcile the sample.
func newBusyboxReconciler(t *testing.T) (*BusyboxReconciler, ctrl.Request) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, cachev1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &cachev1alpha1.Busybox{}
	if err := utils.ReadSampleAs(busyboxSample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Namespace = metav1.NamespaceDefault
	obj.Generation = 1
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).Build()
	return busyboxReconcilerWith(c), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
}

// busyboxIn returns the stored object that the request names.
func busyboxIn(t *testing.T, r *BusyboxReconciler, req ctrl.Request) *cachev1alpha1.Busybox {
	t.Helper()
	obj := &cachev1alpha1.Busybox{}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// This spec runs the controller against a real API server.

var _ = Describe("Busybox controller", func() {
	It("reconciles the sample", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return busyboxReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &cachev1alpha1.Busybox{}
		createSample(busyboxSample, obj)
		counting.settled(obj)
	})
})
