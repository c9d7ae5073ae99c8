package charttest

import (
	"context"
	"fmt"

	"github.com/operon-dev/operon/internal/hooks/fakeapi"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/patch"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"github.com/operon-dev/operon/internal/hooks/testcluster"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Open opens a cluster that has the given objects.
type Open func(ctx context.Context, given []*unstructured.Unstructured) (Cluster, error)

// Cluster is the cluster of a test.
type Cluster struct {
	User     patch.API // may do all
	Operator patch.API // has the permissions of the operator
	Kinds    func(context.Context) (*kinds.Table, error)
	// Allows reports whether the operator has a permission; the namespace "" means all.
	Allows func(ctx context.Context, verb string, k kinds.Kind, namespace string) (bool, error)
	Close  func()
}

// Memory opens clusters in memory with the CRDs of a project. The operator has the permissions in roles, where
// own is its namespace; without roles it may do all.
func Memory(crds, roles []*unstructured.Unstructured, own string) (Open, error) {
	grants, err := rbac.GrantsOf(roles)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, given []*unstructured.Unstructured) (Cluster, error) {
		server := fakeapi.New(kinds.Builtin())
		c := Cluster{User: server, Operator: server, Close: func() {}, Kinds: func(context.Context) (*kinds.Table, error) { return server.Table(), nil }}
		c.Allows = func(_ context.Context, verb string, k kinds.Kind, namespace string) (bool, error) {
			return len(roles) == 0 || grants.Allow(rbac.Request{Verb: verb, Group: k.Group, Resource: k.Resource, Namespace: namespace}, own), nil
		}
		if len(roles) > 0 {
			c.Operator = limited{server, grants, own}
		}
		if err := server.Load(crds...); err != nil {
			return c, err
		}
		return c, server.Load(given...)
	}, nil
}

// Real opens clusters on an API server. The operator has the account of hooks there.
func Real(backend *testcluster.Backend) Open {
	return func(ctx context.Context, given []*unstructured.Unstructured) (Cluster, error) {
		c, err := backend.Open(ctx, &hooktest.Test{Given: given})
		if err != nil {
			return Cluster{}, err
		}
		return Cluster{User: c.User(), Operator: c.Hook(), Kinds: backend.Kinds, Allows: backend.Allows, Close: c.Close}, nil
	}
}

// limited is an API server for an account with certain permissions. It does not check which permissions the
// account grants to others.
type limited struct {
	patch.API
	grants rbac.Grants
	own    string // the namespace of the account
}

// check returns the error of an API server for a request that no rule allows.
func (l limited) check(verb string, k kinds.Kind, namespace, name, subresource string) error {
	r := rbac.Request{Verb: verb, Group: k.Group, Resource: k.Resource, Subresource: subresource, Namespace: namespace, Name: name}
	if l.grants.Allow(r, l.own) {
		return nil
	}
	return apierrors.NewForbidden(k.GVR().GroupResource(), name, fmt.Errorf("no rule allows the operator to %s", r))
}

// Get implements patch.API, like the other methods.
func (l limited) Get(ctx context.Context, k kinds.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	if err := l.check("get", k, namespace, name, ""); err != nil {
		return nil, err
	}
	return l.API.Get(ctx, k, namespace, name)
}

func (l limited) List(ctx context.Context, k kinds.Kind, namespace string, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	if err := l.check("list", k, namespace, "", ""); err != nil {
		return nil, err
	}
	return l.API.List(ctx, k, namespace, o)
}

func (l limited) Create(ctx context.Context, k kinds.Kind, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := l.check("create", k, o.GetNamespace(), "", ""); err != nil {
		return nil, err
	}
	return l.API.Create(ctx, k, o)
}

func (l limited) Update(ctx context.Context, k kinds.Kind, o *unstructured.Unstructured, subresource string) (*unstructured.Unstructured, error) {
	if err := l.check("update", k, o.GetNamespace(), o.GetName(), subresource); err != nil {
		return nil, err
	}
	return l.API.Update(ctx, k, o, subresource)
}

func (l limited) Patch(ctx context.Context, k kinds.Kind, namespace, name string, t types.PatchType, body []byte, subresource string) (*unstructured.Unstructured, error) {
	if err := l.check("patch", k, namespace, name, subresource); err != nil {
		return nil, err
	}
	return l.API.Patch(ctx, k, namespace, name, t, body, subresource)
}

func (l limited) Delete(ctx context.Context, k kinds.Kind, namespace, name string, how metav1.DeletionPropagation) error {
	if err := l.check("delete", k, namespace, name, ""); err != nil {
		return err
	}
	return l.API.Delete(ctx, k, namespace, name, how)
}
