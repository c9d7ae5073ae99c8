// Package patch applies what a hook wrote to $KUBERNETES_PATCH_PATH to an API
// server, call by call as shell-operator does.
package patch

import (
	"context"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// API is an API server, as far as hooks look into it and change it. Its errors are
// those of k8s.io/apimachinery/pkg/api/errors, as a client would see them.
// A namespace is "" for objects of the cluster; whoever gives one for them, or none
// for others, gets the answer of an API server.
type API interface {
	// Kind finds a kind by any name that the engine takes: its own, its plural,
	// its singular or a short one, in any case. apiVersion "" is the preferred one.
	Kind(ctx context.Context, apiVersion, name string) (kinds.Kind, error)
	Get(ctx context.Context, k kinds.Kind, namespace, name string) (*unstructured.Unstructured, error)
	// List lists a namespace, or with "" all of them.
	List(ctx context.Context, k kinds.Kind, namespace string, o metav1.ListOptions) (*unstructured.UnstructuredList, error)
	// Create and Update take the namespace and the name from the object. Update
	// fails with a conflict when the object has a resourceVersion that is not the
	// one in the server. A subresource is such as status, without a slash, or "".
	Create(ctx context.Context, k kinds.Kind, o *unstructured.Unstructured) (*unstructured.Unstructured, error)
	Update(ctx context.Context, k kinds.Kind, o *unstructured.Unstructured, subresource string) (*unstructured.Unstructured, error)
	Patch(ctx context.Context, k kinds.Kind, namespace, name string, t types.PatchType, body []byte, subresource string) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, k kinds.Kind, namespace, name string, how metav1.DeletionPropagation) error
}
