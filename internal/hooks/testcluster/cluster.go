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
	trouble  error
}

// Open implements spec.Backend: it waits for nobody, so tests are to come one after
// the other.
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
	for _, o := range s.inOrder(given) {
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
	c.running.Go(c.sweep)
	return c, nil
}

// inOrder puts namespaces first, with those that objects and roles are in.
func (s *Backend) inOrder(given []*unstructured.Unstructured) []*unstructured.Unstructured {
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

// sweep collects garbage while a hook waits for it.
func (c *test) sweep() {
	for patch.Sleep(c.life, 10*poll) == nil {
		_, _ = c.collect(c.life) // Observed says what is wrong
	}
}

// Hook implements spec.Cluster, as do the others: the account of the hooks.
func (c *test) Hook() patch.API { return c.hook }

// User is the administrator.
func (c *test) User() patch.API { return c.admin }

// Bind follows what a binding selects, with the rights of the hooks.
func (c *test) Bind(ctx context.Context, ref engine.Ref, k config.Kubernetes) ([]*unstructured.Unstructured, error) {
	b, err := c.hook.Bind(ctx, k)
	if err != nil {
		return nil, err
	}
	objects := b.Objects()
	tell := func(o hooktest.Observation) {
		c.mu.Lock()
		defer c.mu.Unlock()
		o.Binding = ref
		c.observed = append(c.observed, o)
	}
	c.bindings = append(c.bindings, b)
	c.running.Go(func() {
		b.Run(c.life, cluster.EventHandler{
			Event: func(event string, o *unstructured.Unstructured) {
				tell(hooktest.Observation{Event: event, Objects: []*unstructured.Unstructured{o}})
			},
			Selected: func(namespace string, objects []*unstructured.Unstructured) {
				tell(hooktest.Observation{Event: "Selected", Namespace: namespace, Objects: objects})
			},
			Unselected: func(namespace string) { tell(hooktest.Observation{Event: "Unselected", Namespace: namespace}) },
			Error: func(err error) {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.trouble = fmt.Errorf("binding %s: %w", k.BindingName(), err)
			},
		})
	})
	return objects, nil
}

// Observed waits until the garbage is collected and bindings were told all.
func (c *test) Observed(ctx context.Context) ([]hooktest.Observation, error) {
	err := until(ctx, "bindings do not observe what the API server has", func() (bool, error) {
		c.mu.Lock()
		trouble := c.trouble
		c.mu.Unlock()
		if trouble != nil {
			return false, trouble
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

// Objects are all.
func (c *test) Objects(ctx context.Context) ([]*unstructured.Unstructured, error) { return c.all(ctx) }

// Wait lets the garbage be collected, for which the engine waits longer.
func (c *test) Wait(ctx context.Context, d time.Duration) error {
	if _, err := c.collect(ctx); err != nil {
		return err
	}
	return patch.Sleep(ctx, min(d, poll))
}

// Env puts the kubectl before others, and has it be the account of the hooks.
func (c *test) Env(env []string) []string {
	env = append(env, c.home.Env()...)
	for i, v := range env {
		if path, is := strings.CutPrefix(v, "PATH="); is {
			env[i] = "PATH=" + c.kubectl + string(filepath.ListSeparator) + path
		}
	}
	return env
}

// Close ends the watches, and takes away all that the test brought about.
func (c *test) Close() {
	c.end()
	c.running.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.life), patience)
	defer cancel()
	c.broken = errors.Join(c.broken, c.reset(ctx))
}

// reset makes the API server have what it had when the stage was opened.
func (s *Backend) reset(ctx context.Context) error {
	lost := false // the hook's account
	return until(ctx, "the API server does not come to have what it had before the test", func() (bool, error) {
		all, err := s.all(ctx)
		if err != nil {
			return false, err
		}
		clean := true
		for _, o := range all {
			was := s.base[identity(o)]
			switch {
			case was == nil:
				clean = false
				err = s.remove(ctx, o)
			case o.GetDeletionTimestamp() != nil:
				clean = clean && was.GetDeletionTimestamp() != nil
			case !reflect.DeepEqual(bare(was), bare(o)):
				clean = false
				err = s.put(ctx, was)
			}
			if err != nil && !harmless(err) {
				return false, err
			}
		}
		there := map[string]bool{}
		for _, o := range all {
			there[identity(o)] = true
		}
		for id, was := range s.base {
			if !there[id] && was.GetDeletionTimestamp() == nil {
				clean = false
				lost = lost || id == identity(object("v1", "ServiceAccount", s.namespace, account))
				if err := s.put(ctx, was); err != nil && !harmless(err) {
					return false, err
				}
			}
		}
		if clean && lost {
			return true, s.login(ctx)
		}
		if clean {
			return true, nil
		}
		_, err = s.collect(ctx)
		return false, err
	})
}

// bare is an object without what a server counts.
func bare(o *unstructured.Unstructured) map[string]any {
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
