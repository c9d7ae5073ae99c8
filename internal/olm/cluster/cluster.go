// Package cluster runs bundles on a cluster with the Operator Lifecycle Manager (OLM) v0: it
// installs, upgrades and removes operators, and OLM itself. For OLM v1, package extension makes
// objects that users apply.
//
// Its objects are unstructured: the typed clients of OLM would register the types of all APIs
// at the start of each command.
package cluster

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/jsonvalue"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
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

	Timeout time.Duration // of the command; 0 if it has none

	Note func(format string, args ...any) // one line about a change or a failure
	Wait func(text string)                // what the command waits for; "" for nothing
}

// resource is a kind of objects, with its name in messages.
type resource struct {
	schema.GroupVersionResource
	kind string
}

// groupV0 is the group of the kinds of OLM v0.
const groupV0 = "operators.coreos.com"

func olm(version, plural, kind string) resource {
	return resource{schema.GroupVersionResource{Group: groupV0, Version: version, Resource: plural}, kind}
}

func core(plural, kind string) resource { return v1("", plural, kind) }

func v1(group, plural, kind string) resource {
	return resource{schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural}, kind}
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
	deployments = v1("apps", "deployments", "Deployment")
	crds        = v1("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition")

	clusterExtensions = v1("olm.operatorframework.io", "clusterextensions", "ClusterExtension") // of OLM v1
)

// managedBy is the label of the objects that operon creates besides the objects of bundles.
const (
	managedBy = "app.kubernetes.io/managed-by"
	operon    = "operon"
)

// client returns the client for the objects of a kind in a namespace, or in the cluster if it is
// empty.
func (c *Client) client(r resource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return c.Objects.Resource(r.GroupVersionResource)
	}
	return c.Objects.Resource(r.GroupVersionResource).Namespace(namespace)
}

// get returns an object, or nil if it does not exist.
func (c *Client) get(ctx context.Context, r resource, namespace, name string) (*unstructured.Unstructured, error) {
	o, err := c.client(r, namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // callers expect missing objects
	}
	return o, explain(ctx, err)
}

// list returns the objects in a namespace, or none if the cluster does not know the kind.
func (c *Client) list(ctx context.Context, r resource, namespace string, o metav1.ListOptions) ([]unstructured.Unstructured, error) {
	all, err := c.client(r, namespace).List(ctx, o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(ctx, err)
	}
	return all.Items, nil
}

// create creates an object of operon, and returns its UID.
func (c *Client) create(ctx context.Context, r resource, namespace, name string, fields map[string]any) (types.UID, error) {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": r.GroupVersion().String(), "kind": r.kind,
		"metadata": map[string]any{"name": name, "namespace": namespace, "labels": map[string]any{managedBy: operon}},
	}}
	maps.Copy(o.Object, fields)
	created, err := c.client(r, namespace).Create(ctx, o, metav1.CreateOptions{})
	if err != nil {
		return "", explain(ctx, fmt.Errorf("create %s %s: %w", r.kind, name, err))
	}
	c.Note("created %s %s", r.kind, name)
	return created.GetUID(), nil
}

// remove deletes an object and waits until it is gone. existed is false if it did not exist.
func (c *Client) remove(ctx context.Context, r resource, namespace, name string) (existed bool, err error) {
	o, err := c.get(ctx, r, namespace, name)
	if err != nil || o == nil {
		return false, err
	}
	return true, c.removeObject(ctx, r, o)
}

// removeCreated is remove for an object that operon created: it leaves one of a user with the same
// name. A UID restricts it to that object.
func (c *Client) removeCreated(ctx context.Context, r resource, namespace, name string, uid types.UID) (existed bool, err error) {
	o, err := c.get(ctx, r, namespace, name)
	if err != nil || o == nil || !createdByOperon(*o) || uid != "" && uid != o.GetUID() {
		return false, err
	}
	return true, c.removeObject(ctx, r, o)
}

// removeObject deletes an object and waits until it is gone. Another object of the same name, which
// a controller may create at once, stays.
func (c *Client) removeObject(ctx context.Context, r resource, o *unstructured.Unstructured) error {
	uid, policy := o.GetUID(), metav1.DeletePropagationBackground
	err := c.client(r, o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{
		PropagationPolicy: &policy, Preconditions: metav1.NewUIDPreconditions(string(uid)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) { // a conflict is about the UID
		return explain(ctx, fmt.Errorf("delete %s %s: %w", r.kind, o.GetName(), err))
	}
	polls := 0
	if err == nil {
		err = c.until(ctx, func() (bool, string, error) {
			now, err := c.get(ctx, r, o.GetNamespace(), o.GetName())
			if err != nil || now == nil || now.GetUID() != uid {
				return err == nil, "", err
			}
			if polls++; r == csvs && polls%touchPolls == 0 {
				err = c.touch(ctx, r, now)
			}
			return false, waitsToBeDeleted(r, now), err
		})
		if err != nil {
			return err
		}
	}
	c.Note("deleted %s %s", r.kind, o.GetName())
	return nil
}

// touchPolls is the number of polls after which a ClusterServiceVersion that is being deleted is touched.
const touchPolls = 10

// touch changes an annotation of an object, so that its controller looks at it at once. After some failures, OLM
// waits up to 16 minutes before it tries again to remove its finalizer.
func (c *Client) touch(ctx context.Context, r resource, o *unstructured.Unstructured) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"operon.dev/touched":%q}}}`, o.GetResourceVersion())
	_, err := c.client(r, o.GetNamespace()).Patch(ctx, o.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return explain(ctx, err)
}

// waitsToBeDeleted says why an object still exists.
func waitsToBeDeleted(r resource, o *unstructured.Unstructured) string {
	text := fmt.Sprintf("%s %s is being deleted", r.kind, o.GetName())
	if f := o.GetFinalizers(); len(f) > 0 {
		text += ", and has the finalizer " + strings.Join(f, ", ")
	}
	return text
}

// explain returns the cause of an error of a canceled request, or the error.
func explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return waitError(ctx, "")
	case apierrors.IsForbidden(err):
		return &fault.Error{Code: fault.CodeFailed, Hint: "ask an administrator for the permission, or use another context", Err: err}
	}
	return err
}

// condition returns a condition in the status of an object, or nil.
func condition(o map[string]any, name string) map[string]any {
	for _, c := range jsonvalue.Maps(o, "status", "conditions") {
		if c["type"] == name {
			return c
		}
	}
	return nil
}
