package cluster

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// resource returns the client for objects of a kind. A namespace given for a
// cluster-scoped kind results in the API server's error, as kubeapi.Client documents.
func (c *Cluster) resource(k kubeapi.Kind, namespace string) dynamic.ResourceInterface {
	all := c.objects.Resource(k.GVR())
	if namespace == "" {
		return all
	}
	return all.Namespace(namespace)
}

// fieldValidation returns what the server does about unknown fields; "" is its default.
func (c *Cluster) fieldValidation() string {
	if c.Strict {
		return metav1.FieldValidationStrict
	}
	return ""
}

// Get implements kubeapi.Client, like the other exported methods of this file.
func (c *Cluster) Get(ctx context.Context, k kubeapi.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	return c.resource(k, namespace).Get(ctx, name, metav1.GetOptions{})
}

// List lists the objects of a namespace, or of all namespaces if it is empty.
func (c *Cluster) List(
	ctx context.Context, k kubeapi.Kind, namespace string, o metav1.ListOptions,
) (*unstructured.UnstructuredList, error) {
	return c.resource(k, namespace).List(ctx, o)
}

// Create creates an object.
func (c *Cluster) Create(ctx context.Context, k kubeapi.Kind, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return c.resource(k, o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{FieldValidation: c.fieldValidation()})
}

// Update replaces an object, or a subresource of it.
func (c *Cluster) Update(
	ctx context.Context, k kubeapi.Kind, o *unstructured.Unstructured, subresource string,
) (*unstructured.Unstructured, error) {
	options := metav1.UpdateOptions{FieldValidation: c.fieldValidation()}
	return c.resource(k, o.GetNamespace()).Update(ctx, o, options, subresources(subresource)...)
}

// Patch patches an object, or a subresource of it.
func (c *Cluster) Patch(
	ctx context.Context, k kubeapi.Kind, namespace, name string, t types.PatchType, body []byte, subresource string,
) (*unstructured.Unstructured, error) {
	options := metav1.PatchOptions{FieldValidation: c.fieldValidation()}
	return c.resource(k, namespace).Patch(ctx, name, t, body, options, subresources(subresource)...)
}

// Apply applies an object on the server, also where others own its fields. It is the same field manager as make install,
// which can later remove what operon applied.
func (c *Cluster) Apply(ctx context.Context, o *unstructured.Unstructured) error {
	k, err := c.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return err
	}
	namespace := o.GetNamespace()
	if k.Namespaced && namespace == "" {
		namespace = c.Namespace
	}
	_, err = c.resource(k, namespace).Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: "kubectl", Force: true})
	return err
}

// Delete deletes an object. With foreground propagation, the object exists until its
// dependents are deleted.
func (c *Cluster) Delete(ctx context.Context, k kubeapi.Kind, namespace, name string, p metav1.DeletionPropagation) error {
	return c.resource(k, namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &p})
}

// DeleteNow deletes an object without a grace period, as a kubelet does after it has stopped a Pod.
func (c *Cluster) DeleteNow(ctx context.Context, k kubeapi.Kind, namespace, name string) error {
	return c.resource(k, namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
}

func subresources(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// get reads a JSON document that is not an object, such as discovery.
func (c *Cluster) get(ctx context.Context, path, accept string, into any) error {
	body, err := c.raw.Get().AbsPath(path).SetHeader("Accept", accept).DoRaw(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// Transport returns a transport for requests as the user of c.
func (c *Cluster) Transport() (http.RoundTripper, error) { return rest.TransportFor(c.config) }

// Objects returns the client for objects of all kinds.
func (c *Cluster) Objects() dynamic.Interface { return c.objects }

// Log returns the log of a container. Options are parameters of the request, such as tailLines.
func (c *Cluster) Log(ctx context.Context, namespace, pod, container string, options map[string]string) (string, error) {
	request := c.raw.Get().AbsPath("/api/v1/namespaces", namespace, "pods", pod, "log").Param("container", container)
	for name, value := range options {
		request.Param(name, value)
	}
	body, err := request.DoRaw(ctx)
	return string(body), err
}

// CRD reads a CustomResourceDefinition for operon itself. Limits do not apply.
func (c *Cluster) CRD(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	err := c.get(ctx, "/apis/"+crdKind.APIVersion()+"/"+crdKind.Resource+"/"+name, "application/json", &o.Object)
	return o, err
}

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
