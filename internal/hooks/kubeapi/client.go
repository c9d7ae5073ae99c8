package kubeapi

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Client is the part of an API server that hooks use. Its errors are the errors of
// k8s.io/apimachinery/pkg/api/errors that a client gets. The namespace of cluster-scoped objects is
// "". A wrong namespace results in the error of an API server.
type Client interface {
	// Kind finds a kind by its name, plural, singular or short name, in any case.
	// An empty apiVersion means the preferred one.
	Kind(ctx context.Context, apiVersion, name string) (Kind, error)
	Get(ctx context.Context, k Kind, namespace, name string) (*unstructured.Unstructured, error)
	// List returns the objects of a namespace, or of all namespaces for "".
	List(ctx context.Context, k Kind, namespace string, o metav1.ListOptions) (*unstructured.UnstructuredList, error)
	// Create and Update take the namespace and the name from the object. Update
	// fails with a conflict if the object has another resourceVersion than the
	// stored one. A subresource is a name without a slash, such as status, or "".
	Create(ctx context.Context, k Kind, o *unstructured.Unstructured) (*unstructured.Unstructured, error)
	Update(ctx context.Context, k Kind, o *unstructured.Unstructured, subresource string) (*unstructured.Unstructured, error)
	Patch(
		ctx context.Context, k Kind, namespace, name string, t types.PatchType, body []byte, subresource string,
	) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, k Kind, namespace, name string, how metav1.DeletionPropagation) error
}
