// Package testcluster runs hook tests on a real API server, one after the other. Each test
// starts with an empty cluster and the objects that it is given, and each hook runs as a
// ServiceAccount of its own with its RBAC rules. kube-controller-manager runs when
// something waits for it: it collects garbage.
package testcluster

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	timeout  = 30 * time.Second      // an API server needs milliseconds
	interval = 20 * time.Millisecond // at most between two polls
)

// Backend is an API server for tests.
type Backend struct {
	admin         *cluster.Cluster
	administrator http.RoundTripper // see requests
	proxy         *cluster.Proxy    // for the programs of hooks
	accounts      []*account
	active        []*account // the accounts of the test
	namespace     string     // of the operator; tests do not create it
	kubectl       string     // folder
	broken        error      // cleanup of an earlier test failed
	journal       *journal   // nil for a control plane of the tests

	// Objects by identity: before Open, and before each test.
	original, base map[string]*unstructured.Unstructured

	added map[string]bool // the namespaces of Roles that the test does not give

	mirror  *mirror
	working sync.Mutex
	manager *manager
	binds   bool   // hooks may bind roles
	idle    uint64 // last revision at which no controller had work
	held    string // see HoldNamespace
}

// open prepares an API server for tests. It installs CRDs and creates the accounts with their roles. A Role without a
// namespace is one in the namespace of the operator. kubeconfig is the file of the administrator. The caller closes the
// backend.
func (s *Backend) open(ctx context.Context, kubeconfig string, crds []*unstructured.Unstructured) (*Backend, error) {
	s.admin.Strict = true // for the objects in tests
	s.mirror = newMirror(s.admin)
	s.manager = &manager{program: filepath.Join(s.kubectl, assets.ControllerManager), kubeconfig: kubeconfig, controllers: controllers}
	ca, certificate, key, err := controlplane.ServingCertificate()
	if err != nil {
		return nil, err
	}
	if s.proxy, err = cluster.NewProxy(ca, certificate, key); err != nil {
		return nil, err
	}
	if err := s.enter(ctx, crds); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// enter records the objects that exist, and prepares the API server for tests.
func (s *Backend) enter(ctx context.Context, crds []*unstructured.Unstructured) (err error) {
	if err := s.settle(ctx); err != nil { // deletions that started earlier
		return err
	}
	if s.journal != nil {
		if err := s.removeLeft(ctx, s.journal); err != nil {
			return err
		}
	}
	if s.original, err = s.snapshot(ctx); err != nil {
		return err
	}
	if s.journal != nil {
		if err := s.journal.begin(s.original); err != nil {
			return err
		}
	}
	if err := s.prepare(ctx, crds); err != nil {
		return errors.Join(err, s.restore(ctx))
	}
	return nil
}

// removeLeft removes the objects that a killed run left.
func (s *Backend) removeLeft(ctx context.Context, j *journal) error {
	left, killed, err := j.left()
	if !killed || err != nil {
		return err
	}
	if s.base, err = s.snapshot(ctx); err != nil {
		return err
	}
	maps.DeleteFunc(s.base, func(_ string, o *unstructured.Unstructured) bool { return left(o) })
	return s.reset(ctx)
}

func (s *Backend) prepare(ctx context.Context, crds []*unstructured.Unstructured) error {
	if err := s.define(ctx, crds); err != nil {
		return err
	}
	for _, a := range s.accounts {
		if err := s.put(ctx, a.serviceAccount()); err != nil {
			return err
		}
		for _, r := range a.clusterRoles() {
			if err := s.grant(ctx, a, r); err != nil {
				return err
			}
		}
		s.binds = s.binds || slices.ContainsFunc(a.Roles, bindsRoles)
	}
	if err := s.loginAll(ctx, s.accounts); err != nil {
		return err
	}
	if s.binds {
		s.idle = 0
		s.manager.stop() // it may run for deletions that started earlier
		s.manager.controllers += aggregation
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	var err error
	s.base, err = s.snapshot(ctx)
	return err
}

// snapshot returns all objects by identity.
func (s *Backend) snapshot(ctx context.Context) (map[string]*unstructured.Unstructured, error) {
	l, err := s.mirror.list(ctx)
	if err != nil {
		return nil, err
	}
	byIdentity := map[string]*unstructured.Unstructured{}
	for _, o := range l.objects {
		byIdentity[identity(o)] = o
	}
	return byIdentity, nil
}

// hides reports whether bindings do not see an object, because the test did not make it: the
// object existed before the test, and is unchanged. As in memory, the namespaces of every
// cluster are visible. Requests of hooks see all objects.
func (s *Backend) hides(o *unstructured.Unstructured) bool {
	if o.GetKind() == "Namespace" && (o.GetName() == "default" || strings.HasPrefix(o.GetName(), "kube-")) {
		return false
	}
	if o.GetKind() == "Namespace" && s.added[o.GetName()] {
		return true
	}
	isRole := func(r *unstructured.Unstructured) bool {
		return r.GetName() == o.GetName() && (o.GetKind() == r.GetKind() || o.GetKind() == r.GetKind()+"Binding")
	}
	if slices.ContainsFunc(s.active, func(a *account) bool { return slices.ContainsFunc(s.rolesIn(a, o.GetNamespace()), isRole) }) {
		return true
	}
	before := s.base[identity(o)]
	return before != nil && sameContent(before, o) ||
		o.GetKind() == "ConfigMap" && o.GetName() == "kube-root-ca.crt" // in every namespace
}

// Kinds returns the kinds that the API server serves.
func (s *Backend) Kinds(ctx context.Context) (*kubeapi.Kinds, error) { return s.admin.Kinds(ctx) }

// Allows reports whether the operator has a permission; the namespace "" means all.
func (s *Backend) Allows(ctx context.Context, verb string, k kubeapi.Kind, namespace string) (bool, error) {
	return s.account("").isGranted(ctx, map[string]any{"verb": verb, "group": k.Group, "resource": k.Resource, "namespace": namespace})
}

// restore restores the objects that existed before Open, and removes all others.
func (s *Backend) restore(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	s.manager.stop() // it would fill aggregated roles again
	s.base = s.original
	if err := s.reset(ctx); err != nil || s.journal == nil {
		return err
	}
	return s.journal.finish()
}

// Close removes the local files of the backend. It does not change the API server.
func (s *Backend) Close() {
	s.manager.stop()
	s.mirror.close()
	s.proxy.Close()
	for _, a := range s.accounts {
		a.home.Remove()
	}
}

func object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func identity(o *unstructured.Unstructured) string {
	return o.GroupVersionKind().String() + " " + o.GetNamespace() + "/" + o.GetName()
}
