package cluster

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// resource is where objects of a kind are. Whoever names a namespace for a kind that
// has none gets the API server's answer, as patch.API says.
func (c *Cluster) resource(k kinds.Kind, namespace string) dynamic.ResourceInterface {
	all := c.objects.Resource(k.GVR())
	if namespace == "" {
		return all
	}
	return all.Namespace(namespace)
}

// Get implements patch.API, as do the others.
func (c *Cluster) Get(ctx context.Context, k kinds.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	return c.resource(k, namespace).Get(ctx, name, metav1.GetOptions{})
}

// List lists the objects of a namespace, or of all when that is "".
func (c *Cluster) List(ctx context.Context, k kinds.Kind, namespace string, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return c.resource(k, namespace).List(ctx, o)
}

// Create creates an object.
func (c *Cluster) Create(ctx context.Context, k kinds.Kind, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return c.resource(k, o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{})
}

// Update replaces an object, or a subresource of it.
func (c *Cluster) Update(ctx context.Context, k kinds.Kind, o *unstructured.Unstructured, subresource string) (*unstructured.Unstructured, error) {
	return c.resource(k, o.GetNamespace()).Update(ctx, o, metav1.UpdateOptions{}, subresources(subresource)...)
}

// Patch patches an object, or a subresource of it.
func (c *Cluster) Patch(ctx context.Context, k kinds.Kind, namespace, name string, t types.PatchType, body []byte, subresource string) (*unstructured.Unstructured, error) {
	return c.resource(k, namespace).Patch(ctx, name, t, body, metav1.PatchOptions{}, subresources(subresource)...)
}

// Delete deletes an object. With foreground propagation it is there until what it
// owns is gone.
func (c *Cluster) Delete(ctx context.Context, k kinds.Kind, namespace, name string, p metav1.DeletionPropagation) error {
	return c.resource(k, namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &p})
}

// deleteSame deletes an object as long as it is as it was read: else that is a conflict.
func (c *Cluster) deleteSame(ctx context.Context, k kinds.Kind, o *unstructured.Unstructured) error {
	uid, version := o.GetUID(), o.GetResourceVersion()
	return c.resource(k, o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
}

func subresources(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// get reads a document that is no object.
func (c *Cluster) get(ctx context.Context, path, accept string, into any) error {
	body, err := c.raw.Get().AbsPath(path).SetHeader("Accept", accept).DoRaw(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// CRD reads a CustomResourceDefinition for operon itself, which no limit holds up.
func (c *Cluster) CRD(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	err := c.get(ctx, "/apis/"+crdKind.APIVersion()+"/"+crdKind.Resource+"/"+name, "application/json", &o.Object)
	return o, err
}

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
