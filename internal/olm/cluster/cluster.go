// Package cluster runs bundles on a cluster with the Operator Lifecycle Manager (OLM): it
// installs, upgrades and removes operators, and OLM itself.
//
// Its objects are unstructured: the typed clients of OLM would register the types of all APIs
// at the start of each command.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/operon-dev/operon/internal/fault"
)

// Client is access to a cluster, and to the person who waits for it.
type Client struct {
	Objects dynamic.Interface
	// Resource finds the resource of a kind, and whether it has namespaces. The error is an
	// UnknownKindError if the cluster does not know the kind.
	Resource func(ctx context.Context, apiVersion, kind string) (r schema.GroupVersionResource, namespaced bool, err error)
	// Logs returns the last lines of the log of a container, or of its previous run.
	Logs func(ctx context.Context, namespace, pod, container string, previous bool) (string, error)

	Note func(format string, args ...any) // one line about a change or a failure
	Wait func(text string)                // what the command waits for; "" for nothing
}

// resource is a kind of objects, with its name in messages.
type resource struct {
	schema.GroupVersionResource
	kind string
}

func olm(version, plural, kind string) resource {
	return resource{schema.GroupVersionResource{Group: groupV0, Version: version, Resource: plural}, kind}
}

func core(plural, kind string) resource {
	return resource{schema.GroupVersionResource{Version: "v1", Resource: plural}, kind}
}

var (
	catalogSources = olm("v1alpha1", "catalogsources", "CatalogSource")
	subscriptions  = olm("v1alpha1", "subscriptions", "Subscription")
	installPlans   = olm("v1alpha1", "installplans", "InstallPlan")
	csvs           = olm("v1alpha1", "clusterserviceversions", "ClusterServiceVersion")
	operatorGroups = olm("v1", "operatorgroups", "OperatorGroup")
	operators      = olm("v1", "operators", "Operator")

	namespaces  = core("namespaces", "Namespace")
	pods        = core("pods", "Pod")
	configMaps  = core("configmaps", "ConfigMap")
	events      = core("events", "Event")
	deployments = resource{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, "Deployment"}
	crds        = resource{schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, "CustomResourceDefinition"}
)

// managedBy is the label of the objects that operon creates besides those of bundles.
const (
	managedBy = "app.kubernetes.io/managed-by"
	operon    = "operon"
)

// on returns the client for the objects of a kind in a namespace, or in the cluster if it is
// empty.
func (c *Client) on(r resource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return c.Objects.Resource(r.GroupVersionResource)
	}
	return c.Objects.Resource(r.GroupVersionResource).Namespace(namespace)
}

// get returns an object, or nil if it does not exist.
func (c *Client) get(ctx context.Context, r resource, namespace, name string) (*unstructured.Unstructured, error) {
	o, err := c.on(r, namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // callers expect missing objects
	}
	return o, explain(ctx, err)
}

// list returns the objects in a namespace, or none if the cluster does not know the kind.
func (c *Client) list(ctx context.Context, r resource, namespace string, o metav1.ListOptions) ([]unstructured.Unstructured, error) {
	all, err := c.on(r, namespace).List(ctx, o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(ctx, err)
	}
	return all.Items, nil
}

// create creates an object of operon.
func (c *Client) create(ctx context.Context, r resource, namespace, name string, fields map[string]any) error {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": r.GroupVersion().String(), "kind": r.kind,
		"metadata": map[string]any{"name": name, "namespace": namespace, "labels": map[string]any{managedBy: operon}},
	}}
	maps.Copy(o.Object, fields)
	_, err := c.on(r, namespace).Create(ctx, o, metav1.CreateOptions{})
	if err != nil {
		return explain(ctx, fmt.Errorf("create %s %s: %w", r.kind, name, err))
	}
	c.Note("created %s %s", r.kind, name)
	return nil
}

// remove deletes an object and waits until it is gone. existed is false if it did not exist.
func (c *Client) remove(ctx context.Context, r resource, namespace, name string) (existed bool, err error) {
	policy := metav1.DeletePropagationBackground
	err = c.on(r, namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &policy})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err == nil {
		err = c.until(ctx, func() (bool, string, error) {
			o, err := c.get(ctx, r, namespace, name)
			if o == nil {
				return err == nil, "", err
			}
			return false, waitsToBeDeleted(r, o), nil
		})
	}
	if err != nil {
		return true, explain(ctx, fmt.Errorf("delete %s %s: %w", r.kind, name, err))
	}
	c.Note("deleted %s %s", r.kind, name)
	return true, nil
}

// waitsToBeDeleted says why an object still exists.
func waitsToBeDeleted(r resource, o *unstructured.Unstructured) string {
	text := fmt.Sprintf("%s %s is being deleted", r.kind, o.GetName())
	if f := o.GetFinalizers(); len(f) > 0 {
		text += ", and has the finalizer " + strings.Join(f, ", ")
	}
	return text
}

// poll is the interval between requests while a command waits.
const poll = 200 * time.Millisecond

// timeoutError is the cause of a context that ends because of a time limit.
type timeoutError struct{ after time.Duration }

func (e timeoutError) Error() string { return fmt.Sprintf("not done after %s", e.after) }

// WithTimeout limits the time of a task.
func WithTimeout(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, after, timeoutError{after})
}

// until calls check until it reports that the condition is met. reason says what is
// missing; it is part of the error when the time is over.
func (c *Client) until(ctx context.Context, check func() (done bool, reason string, err error)) error {
	defer c.Wait("")
	var last string
	for {
		done, reason, err := check()
		switch {
		case ctx.Err() != nil:
			return late(ctx, last)
		case err != nil || done:
			return err
		}
		last = reason
		c.Wait(reason)
		select {
		case <-ctx.Done():
			return late(ctx, last)
		case <-time.After(poll):
		}
	}
}

// quiet is the number of polls after which OLM is expected to create nothing more: it works on what
// it has read before an object was deleted.
const quiet = 5

// vanish calls remove until it has found nothing several times in sequence. remove says what it
// has found, or "".
func (c *Client) vanish(ctx context.Context, remove func() (found string, err error)) error {
	clean := 0
	return c.until(ctx, func() (bool, string, error) {
		found, err := remove()
		if clean++; found != "" {
			clean = 0
		}
		return clean == quiet, found, err
	})
}

// isTimeout reports whether a context has ended because of a time limit.
func isTimeout(ctx context.Context) bool {
	_, ok := errors.AsType[timeoutError](context.Cause(ctx))
	return ok
}

// late is the error of a wait that ended before its condition was met.
func late(ctx context.Context, reason string) error {
	cause := context.Cause(ctx)
	if isTimeout(ctx) && reason != "" {
		return fault.Failed("allow more time with --timeout", "%v: %s", cause, reason)
	}
	return cause
}

// explain returns the cause of an error of a canceled request, or the error.
func explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case apierrors.IsForbidden(err):
		return fault.Failed("ask an administrator for the permission, or use another context", "%v", err)
	}
	return err
}

// text returns a string in an object, or "".
func text(o map[string]any, path ...string) string {
	s, _, _ := unstructured.NestedString(o, path...)
	return s
}

// number returns a number in an object, or 0.
func number(o map[string]any, path ...string) int64 {
	value, _, _ := unstructured.NestedFieldNoCopy(o, path...)
	switch n := value.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

// object returns a map in an object, or nil.
func object(o map[string]any, path ...string) map[string]any {
	value, _, _ := unstructured.NestedFieldNoCopy(o, path...) // the copying functions panic for an int of YAML
	m, _ := value.(map[string]any)
	return m
}

// objects returns the maps of a list in an object.
func objects(o map[string]any, path ...string) []map[string]any {
	value, _, _ := unstructured.NestedFieldNoCopy(o, path...)
	list, _ := value.([]any)
	var all []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// condition returns a condition in the status of an object, or nil.
func condition(o map[string]any, name string) map[string]any {
	for _, c := range objects(o, "status", "conditions") {
		if c["type"] == name {
			return c
		}
	}
	return nil
}
