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
	"testing"

	. "github.com/onsi/ginkgo/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	aerospikev1alpha1 "aerospike/api/v1alpha1"
	"aerospike/test/utils"
)

// The tests use the sample in config/samples, which also verifies that the sample
// matches the fields of AerospikeCluster.
const aerospikeclusterSample = "config/samples/aerospike_v1alpha1_aerospikecluster.yaml"

// These tests use an in-memory client and need no API server.

func TestAerospikeClusterReconcilerIgnoresMissingObject(t *testing.T) {
	r, req := newAerospikeClusterReconciler(t)
	if err := r.Delete(t.Context(), aerospikeclusterIn(t, r, req)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
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
		t.Errorf("the second reconciliation changed the object: resource version %s became %s", before, after)
	}
}

// aerospikeclusterReconcilerWith returns the reconciler under test, which uses the client c. Set
// other fields that your reconciler needs here.
func aerospikeclusterReconcilerWith(c client.Client) *AerospikeClusterReconciler {
	return &AerospikeClusterReconciler{Client: c, Scheme: c.Scheme()}
}

// newAerospikeClusterReconciler returns a reconciler whose client stores the sample in the
// namespace default, and the request to reconcile the sample.
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

// aerospikeclusterIn returns the stored object that the request names.
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
	It("reconciles the sample", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return aerospikeclusterReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &aerospikev1alpha1.AerospikeCluster{}
		createSample(aerospikeclusterSample, obj)
		counting.settled(obj)
	})
})
