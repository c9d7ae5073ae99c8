// Package clustertest opens API servers for tests that run hooks or charts.
package clustertest

import (
	"os"
	"testing"

	"github.com/operon-dev/operon/internal/hooks/testcluster"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Open opens a backend on the API server of a kubeconfig, for an operator in a namespace with Roles and ClusterRoles. It
// is closed at the end of the test. Only one backend of a server can be open.
func Open(t *testing.T, kubeconfig, namespace string, crds, roles []*unstructured.Unstructured) *testcluster.Backend {
	t.Helper()
	backend, release, err := testcluster.Options{
		Kubeconfig: kubeconfig,
		Programs:   func(string) (string, error) { return servertest.Assets() },
		Getenv:     os.Getenv,
		Progress:   func(line string) { t.Log(line) },
		Warn:       func(message string) { t.Error(message) },
	}.Open(t.Context(), "", namespace, crds, []testcluster.Account{{Roles: roles}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return backend
}

// All returns a ClusterRole that allows everything.
func All(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	role := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: all}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}`), &role.Object); err != nil {
		t.Fatal(err)
	}
	return []*unstructured.Unstructured{role}
}
