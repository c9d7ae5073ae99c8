package testfile

import (
	"context"

	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Find returns the object with the name of o. If o has no name, Find returns the first
// object of the kind that contains all fields of o.
func Find(
	ctx context.Context, api kubeapi.Client, o *unstructured.Unstructured,
) (existing *unstructured.Unstructured, exists bool, err error) {
	if o.GetName() != "" {
		kind, err := api.Kind(ctx, o.GetAPIVersion(), o.GetKind())
		if err != nil {
			return nil, false, err
		}
		existing, err = api.Get(ctx, kind, o.GetNamespace(), o.GetName())
		if apierrors.IsNotFound(err) {
			return nil, false, nil
		}
		return existing, err == nil, err
	}
	list, err := Listed(ctx, api, o)
	for i := range list {
		if len(Differences(Normal(o.Object), Normal(list[i].Object), "", false)) == 0 {
			return &list[i], true, nil
		}
	}
	return nil, false, err
}

// Listed returns the objects of the kind and namespace of like.
func Listed(ctx context.Context, api kubeapi.Client, like *unstructured.Unstructured) ([]unstructured.Unstructured, error) {
	kind, err := api.Kind(ctx, like.GetAPIVersion(), like.GetKind())
	if err != nil {
		return nil, err
	}
	list, err := api.List(ctx, kind, like.GetNamespace(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Identity returns the identity of an object, such as v1 Secret default/mysecret.
func Identity(o *unstructured.Unstructured) string {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	return o.GetAPIVersion() + " " + o.GetKind() + " " + name
}
