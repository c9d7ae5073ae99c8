package hooktest

import (
	"context"
	"slices"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// HookNamespace is the namespace in which hooks seem to run: the default namespace of
// kubectl, and the value of SHELL_OPERATOR_NAMESPACE. It exists in every cluster, so
// hooks see no namespace that the test does not mention.
const HookNamespace = "default"

// ErrStopped means that the API server stopped while tests ran.
var ErrStopped = fault.Failed("start it again, and repeat the command; operon envtest start has logs", "the API server stopped while the tests ran")

// Backend creates a cluster for each test.
type Backend interface {
	// Open creates a cluster that holds the given objects of the test. No further test can run after [ErrStopped].
	Open(ctx context.Context, t *Test) (Cluster, error)
}

// Cluster is the cluster of one test.
type Cluster interface {
	// Hook returns the API that a hook uses.
	Hook(name string) kubeapi.Client
	// Requests returns the requests of hooks and of the engine for them since the last call, by hook.
	Requests() map[string]rbac.Requests
	// User returns the API that the events and expectations of the test use.
	User() kubeapi.Client
	// Bind starts to observe the objects that a binding selects and returns the current
	// ones.
	Bind(ctx context.Context, b engine.Ref, k config.Kubernetes) ([]*unstructured.Unstructured, error)
	// Observed returns the observations since the previous call, in order. It waits until
	// all changes made before the call have been observed.
	Observed(ctx context.Context) ([]Observation, error)
	// HoldNamespace keeps a namespace while it is being deleted, but not its objects, until release is called.
	HoldNamespace(ctx context.Context, name string) (release func(context.Context) error, err error)
	// Objects returns all objects that a hook may have changed, in a stable order. Callers must not change them.
	Objects(ctx context.Context) ([]*unstructured.Unstructured, error)
	// Wait waits for a duration, or a shorter time.
	Wait(ctx context.Context, d time.Duration) error
	// Env adds the variables that a hook needs to reach the cluster.
	Env(hook string, env []string) []string
	Close()
}

// Observation is a change that a binding observes.
type Observation struct {
	Binding engine.Ref
	// Event is Added, Modified or Deleted for the single object in Objects. It is
	// Selected or Unselected if the labels of a namespace start or stop matching the
	// binding; for Selected, Objects are the selected objects in that namespace.
	Event     string
	Namespace string
	Objects   []*unstructured.Unstructured
}

// Apply applies the observation to a state. The error comes from a filter.
func (o Observation) Apply(s *engine.State) error {
	switch o.Event {
	case "Selected":
		return s.NamespaceSelected(o.Binding, o.Objects)
	case "Unselected":
		s.NamespaceUnselected(o.Binding, o.Namespace)
		return nil
	}
	return s.ObjectChanged(o.Binding, o.Event, o.Objects[0])
}

// WithNamespaces returns given objects, namespaces first, and adds the missing namespaces of
// the other objects.
func WithNamespaces(given []*unstructured.Unstructured) []*unstructured.Unstructured {
	var namespaces, others []*unstructured.Unstructured
	known := []string{"", "default", "kube-node-lease", "kube-public", "kube-system"}
	for _, o := range given {
		if isNamespace(o) {
			namespaces, known = append(namespaces, o), append(known, o.GetName())
		} else {
			others = append(others, o)
		}
	}
	for _, o := range others {
		if name := o.GetNamespace(); !slices.Contains(known, name) {
			namespaces, known = append(namespaces, newNamespace(name)), append(known, name)
		}
	}
	return append(namespaces, others...)
}

func newNamespace(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}
}

func isNamespace(o *unstructured.Unstructured) bool {
	return o.GetKind() == "Namespace" && o.GetAPIVersion() == "v1"
}
