//go:build testall

package testcluster

import (
	"fmt"
	"slices"
	"testing"

	"github.com/operon-dev/operon/internal/hooks/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// testMirror changes objects with another client, which each list must show at once.
func testMirror(t *testing.T, kubeconfig string) {
	open := func() *cluster.Cluster {
		c, err := cluster.Open(cluster.ClientOptions{Kubeconfig: kubeconfig}, func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	m, other := newMirror(open()), open()
	t.Cleanup(m.close)
	has := func(wanted *unstructured.Unstructured, exists bool) {
		t.Helper()
		l, err := m.list(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		same := func(o *unstructured.Unstructured) bool {
			return identity(o) == identity(wanted) && o.GetResourceVersion() == wanted.GetResourceVersion()
		}
		if slices.ContainsFunc(l.objects, same) != exists {
			t.Errorf("%s with resourceVersion %s is listed: %t", identity(wanted), wanted.GetResourceVersion(), !exists)
		}
	}
	changeAndDelete := func(apiVersion, kind, name string) {
		t.Helper()
		o := put(t, other, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: %s, namespace: default}}", apiVersion, kind, name))
		has(o, true)
		k, err := other.Kind(t.Context(), apiVersion, kind)
		if err == nil {
			o, err = other.Patch(t.Context(), k, "default", name, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), "")
		}
		if err != nil {
			t.Fatal(err)
		}
		has(o, true)
		remove(t, other, o, metav1.DeletePropagationBackground)
		has(o, false)
	}
	for i := range 20 {
		changeAndDelete("v1", []string{"ConfigMap", "Secret"}[i%2], fmt.Sprintf("o%d", i))
	}
	// A change of the storage that no watch reports.
	m.mu.Lock()
	m.complete -= 2
	m.mu.Unlock()
	changeAndDelete("v1", "ConfigMap", "after-gap")
	// A kind that appears and disappears.
	s := &Backend{admin: other, mirror: newMirror(other), manager: &manager{}}
	t.Cleanup(s.mirror.close)
	ships := crd(t, "ships")
	if err := s.define(t.Context(), []*unstructured.Unstructured{ships}); err != nil {
		t.Fatal(err)
	}
	changeAndDelete("example.org/v1", "Ship", "olympic")
	left := put(t, other, "{apiVersion: example.org/v1, kind: Ship, metadata: {name: titanic, namespace: default}}")
	has(left, true)
	remove(t, other, ships, metav1.DeletePropagationBackground)
	if err := until(t.Context(), "the CRD still exists", func() (bool, error) {
		l, err := m.list(t.Context())
		return !slices.ContainsFunc(l.objects, func(o *unstructured.Unstructured) bool { return identity(o) == identity(ships) }), err
	}); err != nil {
		t.Fatal(err)
	}
	has(left, false)
	changeAndDelete("v1", "ConfigMap", "after-crd")
}
