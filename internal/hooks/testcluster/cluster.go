package testcluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/patch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// test is the cluster of one test.
type test struct {
	*Backend
	life    context.Context
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
		if kinds.IsCRD(o.GroupVersionKind()) {
			crds = append(crds, o)
		} else {
			given = append(given, o)
		}
	}
	err := s.define(ctx, crds)
	for _, o := range s.withNamespaces(given) {
		if err == nil {
			err = s.put(ctx, o)
		}
	}
	for _, r := range s.roles {
		if err == nil && r.GetKind() == "Role" {
			err = s.grant(ctx, r)
		}
	}
	if err == nil {
		err = s.waitForRoles(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("given: %w", err), s.reset(context.WithoutCancel(ctx)))
	}
	c := &test{Backend: s}
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	c.running.Go(c.collectGarbage)
	return c, nil
}

// withNamespaces returns the objects with namespaces first. It adds the namespaces that
// objects and roles need.
func (s *Backend) withNamespaces(given []*unstructured.Unstructured) []*unstructured.Unstructured {
	var namespaces, others []*unstructured.Unstructured
	known := []string{"", "default", "kube-node-lease", "kube-public", "kube-system", s.namespace}
	for _, o := range given {
		if o.GetKind() == "Namespace" && o.GetAPIVersion() == "v1" {
			namespaces, known = append(namespaces, o), append(known, o.GetName())
		} else {
			others = append(others, o)
		}
	}
	for _, o := range slices.Concat(others, s.roles) {
		if name := o.GetNamespace(); !slices.Contains(known, name) {
			namespaces, known = append(namespaces, object("v1", "Namespace", "", name)), append(known, name)
		}
	}
	return append(namespaces, others...)
}

// collectGarbage collects garbage while hooks run, because they can wait for it.
func (c *test) collectGarbage() {
	for patch.Sleep(c.life, 10*interval) == nil {
		_, _ = c.collect(c.life) // Observed reports the errors
	}
}

// Hook returns the API with the permissions of the hooks. It implements hooktest.Cluster,
// like the other exported methods.
func (c *test) Hook() patch.API { return c.hook }

// User returns the API with the permissions of an administrator.
func (c *test) User() patch.API { return c.admin }

// Bind lists and watches the objects that a binding selects, with the permissions of the
// hooks.
func (c *test) Bind(ctx context.Context, ref engine.Ref, k config.Kubernetes) ([]*unstructured.Unstructured, error) {
	b, err := c.hook.Bind(ctx, k)
	if err != nil {
		return nil, err
	}
	objects := b.Objects()
	observe := func(o hooktest.Observation) {
		c.mu.Lock()
		defer c.mu.Unlock()
		o.Binding = ref
		c.observed = append(c.observed, o)
	}
	c.bindings = append(c.bindings, b)
	c.running.Go(func() {
		b.Run(c.life, cluster.EventHandler{
			Event: func(event string, o *unstructured.Unstructured) {
				observe(hooktest.Observation{Event: event, Objects: []*unstructured.Unstructured{o}})
			},
			Selected: func(namespace string, objects []*unstructured.Unstructured) {
				observe(hooktest.Observation{Event: "Selected", Namespace: namespace, Objects: objects})
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

// Observed waits until garbage is collected and bindings are in sync, and returns the
// events since the last call.
func (c *test) Observed(ctx context.Context) ([]hooktest.Observation, error) {
	err := until(ctx, "bindings are not in sync with the API server", func() (bool, error) {
		c.mu.Lock()
		watchErr := c.watchErr
		c.mu.Unlock()
		if watchErr != nil {
			return false, watchErr
		}
		if did, err := c.collect(ctx); err != nil || did {
			return false, err
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
func (c *test) Objects(ctx context.Context) ([]*unstructured.Unstructured, error) { return c.all(ctx) }

// Wait collects garbage instead of waiting for the whole duration, as the engine does.
func (c *test) Wait(ctx context.Context, d time.Duration) error {
	if _, err := c.collect(ctx); err != nil {
		return err
	}
	return patch.Sleep(ctx, min(d, interval))
}

// Env adds the kubeconfig of the hooks, and puts the folder of kubectl first in PATH.
func (c *test) Env(env []string) []string {
	env = append(env, c.home.Env()...)
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.life), timeout)
	defer cancel()
	c.broken = errors.Join(c.broken, c.reset(ctx))
}

// reset restores the objects that existed when the backend was opened, and
// removes all others.
func (s *Backend) reset(ctx context.Context) error {
	accountDeleted := false
	return until(ctx, "cleanup failed: the API server still has objects of the test", func() (bool, error) {
		all, err := s.all(ctx)
		if err != nil {
			return false, err
		}
		clean := true
		for _, o := range all {
			original := s.base[identity(o)]
			switch {
			case original == nil:
				clean = false
				err = s.remove(ctx, o)
			case o.GetDeletionTimestamp() != nil:
				clean = clean && original.GetDeletionTimestamp() != nil
			case !reflect.DeepEqual(withoutServerFields(original), withoutServerFields(o)):
				clean = false
				err = s.put(ctx, original)
			}
			if err != nil && !isRace(err) {
				return false, err
			}
		}
		existing := map[string]bool{}
		for _, o := range all {
			existing[identity(o)] = true
		}
		for id, original := range s.base {
			if !existing[id] && original.GetDeletionTimestamp() == nil {
				clean = false
				accountDeleted = accountDeleted || id == identity(object("v1", "ServiceAccount", s.namespace, account))
				if err := s.put(ctx, original); err != nil && !isRace(err) {
					return false, err
				}
			}
		}
		if clean && accountDeleted {
			return true, s.login(ctx)
		}
		if clean {
			return true, nil
		}
		_, err = s.collect(ctx)
		return false, err
	})
}

// withoutServerFields returns an object without the fields that change with each write.
func withoutServerFields(o *unstructured.Unstructured) map[string]any {
	c := o.DeepCopy()
	c.SetResourceVersion("")
	c.SetManagedFields(nil)
	c.SetGeneration(0)
	c.SetUID("")
	unstructured.RemoveNestedField(c.Object, "metadata", "creationTimestamp")
	if c.GetKind() == "CustomResourceDefinition" {
		delete(c.Object, "status")
	}
	return c.Object
}
