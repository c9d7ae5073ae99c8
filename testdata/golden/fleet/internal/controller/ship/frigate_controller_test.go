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
	It("reconciles the sample", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return frigateReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &shipv1.Frigate{}
		createSample(frigateSample, obj)
		counting.settled(obj)
	})
})
