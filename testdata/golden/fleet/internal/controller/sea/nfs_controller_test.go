package sea

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	seav1beta1 "example.org/fleet/api/sea/v1beta1"
	"example.org/fleet/test/utils"
)

// The tests use the sample in config/samples, which also verifies that the sample
// matches the fields of NFS.
const nfsSample = "config/samples/sea_v1beta1_nfs.yaml"

// These tests use an in-memory client and need no API server.

func TestNFSReconcilerIgnoresMissingObject(t *testing.T) {
	r, req := newNFSReconciler(t)
	if err := r.Delete(t.Context(), nfsIn(t, r, req)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestNFSReconcilerSettles(t *testing.T) {
	r, req := newNFSReconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	before := nfsIn(t, r, req).ResourceVersion
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if after := nfsIn(t, r, req).ResourceVersion; after != before {
		t.Errorf("the second reconciliation changed the object: resource version %s became %s", before, after)
	}
}

// nfsReconcilerWith returns the reconciler under test, which uses the client c. Set
// other fields that your reconciler needs here.
func nfsReconcilerWith(c client.Client) *NFSReconciler {
	return &NFSReconciler{Client: c, Scheme: c.Scheme()}
}

// newNFSReconciler returns a reconciler whose client stores the sample, and the request to reconcile the sample.
func newNFSReconciler(t *testing.T) (*NFSReconciler, ctrl.Request) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, seav1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &seav1beta1.NFS{}
	if err := utils.ReadSampleAs(nfsSample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Generation = 1
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).Build()
	return nfsReconcilerWith(c), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
}

// nfsIn returns the stored object that the request names.
func nfsIn(t *testing.T, r *NFSReconciler, req ctrl.Request) *seav1beta1.NFS {
	t.Helper()
	obj := &seav1beta1.NFS{}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// This spec runs the controller against a real API server.

var _ = Describe("NFS controller", func() {
	It("reconciles the sample", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return nfsReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &seav1beta1.NFS{}
		createSample(nfsSample, obj)
		counting.settled(obj)
	})
})
