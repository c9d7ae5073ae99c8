package e2e

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"testing"
)

// controlPlane is a running control plane, seen by its administrator.
type controlPlane struct {
	kubeconfig string
	config     *rest.Config
	client     kubernetes.Interface
	dynamic    dynamic.Interface
}

// startControlPlane starts another control plane than the shared one, for tests
// that kill it. It ends with the test.
func startControlPlane(t *testing.T, args ...string) *controlPlane {
	t.Helper()
	panic("D")
}

// namespace makes a namespace whose name begins with prefix; it goes with the test.
func (c *controlPlane) namespace(t *testing.T, prefix string, labels map[string]string) string {
	t.Helper()
	panic("D")
}

// apply applies objects on the server's side, with strict field validation.
func (c *controlPlane) apply(t *testing.T, objects ...*unstructured.Unstructured) {
	t.Helper()
	panic("D")
}

// create, get, update, patch and delete work on any kind; the resource is found
// by discovery. The errors are the API server's.
func (c *controlPlane) create(t *testing.T, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	panic("D")
}

// objects parses YAML documents.
func objects(t *testing.T, yaml string) []*unstructured.Unstructured {
	t.Helper()
	panic("D")
}
