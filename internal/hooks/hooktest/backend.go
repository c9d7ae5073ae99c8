package hooktest

import (
	"context"
	"time"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/patch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Backend has a cluster for each test.
type Backend interface {
	// Open makes a cluster with what the test is given in it.
	Open(ctx context.Context, t *Test) (Cluster, error)
}

// Cluster is what a test runs on.
type Cluster interface {
	// Hook is the API server for what the hook does.
	Hook() patch.API
	// User is the API server for what happens in the test.
	User() patch.API
	// Bind begins to observe what a binding selects, and returns what there is.
	Bind(ctx context.Context, b engine.Ref, k config.Kubernetes) ([]*unstructured.Unstructured, error)
	// Observed returns what bindings have observed since it was called last, in its
	// order. It waits until all that was changed before the call has come through.
	Observed(ctx context.Context) ([]Observation, error)
	// Objects returns all objects that a hook may have changed, in an order of their own.
	Objects(ctx context.Context) ([]*unstructured.Unstructured, error)
	// Wait waits, as much as time passes here at all.
	Wait(ctx context.Context, d time.Duration) error
	// Env adds to the environment of the hook what it needs to reach the cluster.
	Env(env []string) []string
	Close()
}

// Observation is what a binding observes.
type Observation struct {
	Binding engine.Ref
	// Event is Added, Modified or Deleted, of the only one of Objects; or Selected
	// or Unselected, when a namespace begins or ceases to be selected by its labels:
	// then Objects are what is in it.
	Event     string
	Namespace string
	Objects   []*unstructured.Unstructured
}

// Apply tells a state what was observed. The error is one of the filter.
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
