package controller

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
	"example.org/memcached/api/v1alpha1/applyconfiguration"
	"example.org/memcached/test/utils"
)

// The tests use the sample in config/samples, which also verifies that the sample
// matches the fields of Sentinel.
const sentinelSample = "config/samples/cache_v1alpha1_sentinel.yaml"

// These tests use an in-memory client and need no API server.

func TestSentinelReconcilerIgnoresMissingObject(t *testing.T) {
	r, req := newSentinelReconciler(t)
	if err := r.Delete(t.Context(), sentinelIn(t, r, req)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestSentinelReconcilerSettles(t *testing.T) {
	r, req := newSentinelReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	before := sentinelIn(t, r, req)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	after := sentinelIn(t, r, req)
	after.ResourceVersion = before.ResourceVersion // unlike an API server, this client changes it each time
	if !equality.Semantic.DeepEqual(before, after) {
		t.Errorf("the second reconciliation changed the object from %+v to %+v", before, after)
	}
}

// sentinelReconcilerWith returns the reconciler under test, which uses the client c. Set
// other fields that your reconciler needs here.
func sentinelReconcilerWith(c client.Client) *SentinelReconciler {
	return &SentinelReconciler{Client: c, Scheme: c.Scheme()}
}

// newSentinelReconciler returns a reconciler whose client stores the sample in the
// namespace default, and the request to reconcile the sample.
func newSentinelReconciler(t *testing.T) (*SentinelReconciler, ctrl.Request) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, cachev1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &cachev1alpha1.Sentinel{}
	if err := utils.ReadSampleAs(sentinelSample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Namespace = metav1.NamespaceDefault
	obj.Generation = 1
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).
		WithTypeConverters(applyconfiguration.NewTypeConverter(scheme), managedfields.NewDeducedTypeConverter()).Build()
	return sentinelReconcilerWith(c), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
}

// sentinelIn returns the stored object that the request names.
func sentinelIn(t *testing.T, r *SentinelReconciler, req ctrl.Request) *cachev1alpha1.Sentinel {
	t.Helper()
	obj := &cachev1alpha1.Sentinel{}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// This spec runs the controller against a real API server.

var _ = Describe("Sentinel controller", func() {
	It("reconciles the sample", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return sentinelReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &cachev1alpha1.Sentinel{}
		createSample(sentinelSample, obj)
		counting.settled(obj)
	})
})
