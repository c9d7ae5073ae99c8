package ship

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	shipv1 "example.org/fleet/api/ship/v1"
	"example.org/fleet/test/utils"
)

// The tests use the sample in config/samples, which also verifies that the sample
// matches the fields of Type.
const typeSample = "config/samples/ship_v1_type.yaml"

// These tests use an in-memory client and need no API server.

func TestTypeReconcilerIgnoresMissingObject(t *testing.T) {
	r, req := newTypeReconciler(t)
	if err := r.Delete(t.Context(), typeIn(t, r, req)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestTypeReconcilerSettles(t *testing.T) {
	r, req := newTypeReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	before := typeIn(t, r, req).ResourceVersion
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if after := typeIn(t, r, req).ResourceVersion; after != before {
		t.Errorf("the second reconciliation changed the object: resource version %s became %s", before, after)
	}
}

// typeReconcilerWith returns the reconciler under test, which uses the client c. Set
// other fields that your reconciler needs here.
func typeReconcilerWith(c client.Client) *TypeReconciler {
	return &TypeReconciler{Client: c, Scheme: c.Scheme()}
}

// newTypeReconciler returns a reconciler whose client stores the sample in the
// namespace default, and the request to reconcile the sample.
func newTypeReconciler(t *testing.T) (*TypeReconciler, ctrl.Request) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, shipv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &shipv1.Type{}
	if err := utils.ReadSampleAs(typeSample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Namespace = metav1.NamespaceDefault
	obj.Generation = 1
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).Build()
	return typeReconcilerWith(c), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
}

// typeIn returns the stored object that the request names.
func typeIn(t *testing.T, r *TypeReconciler, req ctrl.Request) *shipv1.Type {
	t.Helper()
	obj := &shipv1.Type{}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// This spec runs the controller against a real API server.

var _ = Describe("Type controller", func() {
	It("reconciles the sample", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return typeReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &shipv1.Type{}
		createSample(typeSample, obj)
		counting.settled(obj)
	})
})
