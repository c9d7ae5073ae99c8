/*
Copyright 2026.

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

	systeknov1 "github.com/systek/s3-operator/api/v1"
	"github.com/systek/s3-operator/test/utils"
)

// The tests use the sample in config/samples, which also verifies that the sample
// matches the fields of S3.
const s3Sample = "config/samples/v1_s3.yaml"

// These tests use an in-memory client and need no API server.

func TestS3ReconcilerIgnoresMissingObject(t *testing.T) {
	r, req := newS3Reconciler(t)
	if err := r.Delete(t.Context(), s3In(t, r, req)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestS3ReconcilerSettles(t *testing.T) {
	r, req := newS3Reconciler(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	before := s3In(t, r, req).ResourceVersion
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if after := s3In(t, r, req).ResourceVersion; after != before {
		t.Errorf("the second reconciliation changed the object: resource version %s became %s", before, after)
	}
}

// s3ReconcilerWith returns the reconciler under test, which uses the client c. Set
// other fields that your reconciler needs here.
func s3ReconcilerWith(c client.Client) *S3Reconciler {
	return &S3Reconciler{Client: c, Scheme: c.Scheme()}
}

// newS3Reconciler returns a reconciler whose client stores the sample in the
// namespace default, and the request to reconcile the sample.
func newS3Reconciler(t *testing.T) (*S3Reconciler, ctrl.Request) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, systeknov1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &systeknov1.S3{}
	if err := utils.ReadSampleAs(s3Sample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Namespace = metav1.NamespaceDefault
	obj.Generation = 1
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithStatusSubresource(obj).Build()
	return s3ReconcilerWith(c), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}
}

// s3In returns the stored object that the request names.
func s3In(t *testing.T, r *S3Reconciler, req ctrl.Request) *systeknov1.S3 {
	t.Helper()
	obj := &systeknov1.S3{}
	if err := r.Get(t.Context(), req.NamespacedName, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// This spec runs the controller against a real API server.

var _ = Describe("S3 controller", func() {
	It("reconciles the sample", func() {
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			return s3ReconcilerWith(c).SetupWithManager(mgr)
		})
		obj := &systeknov1.S3{}
		createSample(s3Sample, obj)
		counting.settled(obj)
	})
})
