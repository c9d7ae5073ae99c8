package testcluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/rbac"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// test is the cluster of one test.
type test struct {
	*Backend
	ctx     context.Context // ends with the test; for watches
	end     context.CancelFunc
	running sync.WaitGroup

	bindings []*cluster.Binding
	mu       sync.Mutex
	observed []hooktest.Observation
	watchErr error
}

// Open implements hooktest.Backend. Tests must run sequentially.
func (s *Backend) Open(ctx context.Context, t *hooktest.Test) (hooktest.Cluster, error) {
	if s.broken != nil {
		return nil, s.broken
	}
	var crds, given []*unstructured.Unstructured
	for _, o := range t.Given {
		if kubeapi.IsCRD(o.GroupVersionKind()) {
			crds = append(crds, o)
		} else {
			given = append(given, o)
		}
	}
	s.active = s.accountsOf(t)
	if err := s.give(ctx, crds, given); err != nil {
		return nil, errors.Join(fmt.Errorf("given: %w", err), s.reset(context.WithoutCancel(ctx)))
	}
	c := &test{Backend: s}
	c.Requests() // forget those that checked permissions
	c.ctx, c.end = context.WithCancel(context.WithoutCancel(ctx))
	c.running.Go(c.watchWork)
	return c, nil
}

// give creates the given objects of a test, and grants the hooks their permissions.
func (s *Backend) give(ctx context.Context, crds, given []*unstructured.Unstructured) error {
	if err := s.define(ctx, crds); err != nil {
		return err
	}
	for _, o := range hooktest.WithNamespaces(given) {
		if err := s.put(ctx, o); err != nil {
			return err
		}
	}
	if err := s.addNamespaces(ctx); err != nil {
		return err
	}
	for _, a := range s.active {
		if err := a.waitForRoles(ctx, a.clusterRoles()); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(s.activeRoles(), func(r *unstructured.Unstructured) bool { return r.GetKind() == "Role" }) {
		return nil
	}
	l, err := s.mirror.list(ctx)
	if err != nil {
		return err
	}
	for _, ns := range l.objects {
		if !isNamespace(ns) || ns.GetDeletionTimestamp() != nil {
			continue
		}
		if err := s.grantRoles(ctx, ns.GetName()); err != nil {
			return err
		}
	}
	return nil
}

// addNamespaces creates the namespaces of Roles that do not exist, except for the one of the operator: without them, hooks
// that watch objects there are refused.
func (s *Backend) addNamespaces(ctx context.Context) error {
	s.added = map[string]bool{}
	for _, r := range s.activeRoles() {
		name := r.GetNamespace()
		if r.GetKind() != "Role" || name == "" || name == s.namespace {
			continue
		}
		_, err := s.admin.Create(ctx, namespaceKind, object("v1", "Namespace", "", name))
		switch {
		case err == nil:
			s.added[name] = true
		case !exists(err):
			return err
		}
	}
	return nil
}

// watchWork starts the controllers while hooks run, because hooks can wait for them.
func (c *test) watchWork() {
	for kubeapi.Sleep(c.ctx, 200*time.Millisecond) == nil {
		if c.mirror.hasChanged() {
			_, _ = c.work(c.ctx) // Observed reports the errors
		}
	}
}

// activeRoles returns the roles of the accounts of the test.
func (s *Backend) activeRoles() (all []*unstructured.Unstructured) {
	for _, a := range s.active {
		all = append(all, a.Roles...)
	}
	return all
}

// Hook returns the API with the permissions of a hook. It implements hooktest.Cluster,
// like the other exported methods.
func (c *test) Hook(name string) kubeapi.Client { return c.account(name).client }

// Requests returns the requests since the last call.
func (c *test) Requests() map[string]rbac.Requests {
	all := map[string]rbac.Requests{}
	for _, a := range c.active {
		all[a.Hook] = a.requests.Take()
	}
	return all
}

// User returns the API with the permissions of an administrator.
func (c *test) User() kubeapi.Client { return user{c.admin, c.Backend} }

// user is the administrator who installed the operator, and who grants the hooks their Roles
// in each new namespace.
type user struct {
	*cluster.Cluster
	backend *Backend
}

// Create implements kubeapi.Client.
func (u user) Create(ctx context.Context, k kubeapi.Kind, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	created, err := u.Cluster.Create(ctx, k, o)
	if err == nil && k.GVR() == namespaceKind.GVR() {
		err = u.backend.grantRoles(ctx, created.GetName())
	}
	return created, err
}

// Bind lists and watches the objects that a binding selects, with the permissions of the
// hook.
func (c *test) Bind(ctx context.Context, ref engine.Ref, k config.Kubernetes) ([]*unstructured.Unstructured, error) {
	b, err := c.account(ref.Hook).client.Bind(ctx, k)
	if err != nil {
		return nil, err
	}
	visible := func(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
		return slices.DeleteFunc(slices.Clone(objects), c.hides)
	}
	objects := visible(b.Objects())
	observe := func(o hooktest.Observation) {
		c.mu.Lock()
		defer c.mu.Unlock()
		o.Binding = ref
		c.observed = append(c.observed, o)
	}
	c.bindings = append(c.bindings, b)
	c.running.Go(func() {
		b.Run(c.ctx, cluster.EventHandler{
			Event: func(event string, o *unstructured.Unstructured) {
				if event != "Deleted" && c.hides(o) {
					return
				}
				observe(hooktest.Observation{Event: event, Objects: []*unstructured.Unstructured{o}})
			},
			Selected: func(namespace string, objects []*unstructured.Unstructured) {
				observe(hooktest.Observation{Event: "Selected", Namespace: namespace, Objects: visible(objects)})
			},
			Unselected: func(namespace string) { observe(hooktest.Observation{Event: "Unselected", Namespace: namespace}) },
			Error: func(err error) {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.watchErr = fmt.Errorf("binding %s: %w", k.BindingName(), err)
			},
		})
	})
	return objects, nil
}

// Observed waits until the controllers have no work and bindings are in sync, and returns the
// events since the last call.
func (c *test) Observed(ctx context.Context) ([]hooktest.Observation, error) {
	if err := c.settle(ctx); err != nil {
		return nil, err
	}
	err := until(ctx, "bindings are not in sync with the API server", func() (bool, error) {
		c.mu.Lock()
		watchErr := c.watchErr
		c.mu.Unlock()
		if watchErr != nil {
			return false, watchErr
		}
		for _, b := range c.bindings {
			if synced, err := b.Synced(ctx); err != nil || !synced {
				return false, err
			}
		}
		return true, nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.observed
	c.observed = nil
	return all, err
}

// Objects returns all objects of the API server.
func (c *test) Objects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	l, err := c.mirror.list(ctx)
	return l.objects, err
}

// Wait waits for a short time instead of the whole duration, as the engine does.
func (c *test) Wait(ctx context.Context, d time.Duration) error {
	if _, err := c.work(ctx); err != nil {
		return err
	}
	return kubeapi.Sleep(ctx, min(d, interval))
}

// Env adds the kubeconfig of a hook, and puts the folder of kubectl first in PATH. kubectl keeps the kinds of the API server
// until a CRD changes.
func (c *test) Env(hook string, env []string) []string {
	home := c.account(hook).home
	revision, _ := c.mirror.revisionOf(crdKind)
	env = append(append(env, home.Env()...), "KUBECACHEDIR="+filepath.Join(home.Path(), "kinds-"+revision))
	for i, v := range env {
		if path, is := strings.CutPrefix(v, "PATH="); is {
			env[i] = "PATH=" + c.kubectl + string(filepath.ListSeparator) + path
		}
	}
	return env
}

// Close stops the watches and removes all objects of the test.
func (c *test) Close() {
	c.end()
	c.running.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), timeout)
	defer cancel()
	c.broken = errors.Join(c.broken, c.reset(ctx))
}
