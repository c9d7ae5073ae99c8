package charttest

import (
	"context"

	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
)

// Backend opens a cluster for each test, in which the operator has the account of hooks.
type Backend interface {
	hooktest.Backend
	Kinds(ctx context.Context) (*kubeapi.Kinds, error)
	// Allows reports whether the operator has a permission; the namespace "" means all.
	Allows(ctx context.Context, verb string, k kubeapi.Kind, namespace string) (bool, error)
}

// cluster is the cluster of a test.
type cluster struct {
	hooktest.Cluster
	Backend
}
