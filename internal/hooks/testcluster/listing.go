package testcluster

import (
	"context"
	"encoding/json"

	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func exists(err error) bool { return apierrors.IsAlreadyExists(err) }

// serverResources are resources that the API server manages. Tests ignore them.
var serverResources = []string{
	"events", "apiservices.apiregistration.k8s.io", "flowschemas.flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
	"ipaddresses.networking.k8s.io", "servicecidrs.networking.k8s.io",
}

// isServerOwned reports whether the control plane manages an object, such as a lease or
// its own endpoints.
func isServerOwned(o *unstructured.Unstructured) bool {
	switch o.GetKind() {
	case "Lease":
		return o.GetNamespace() == "kube-system"
	case "Endpoints", "EndpointSlice":
		return o.GetNamespace() == "default" && o.GetName() == "kubernetes"
	}
	return false
}

// namespaceKind is the kind Namespace.
var namespaceKind = kubeapi.Kind{Version: "v1", Kind: "Namespace", Resource: "namespaces"}

func (s *Backend) delete(ctx context.Context, o *unstructured.Unstructured, how metav1.DeletionPropagation) error {
	k, err := s.admin.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return err
	}
	return s.admin.Delete(ctx, k, o.GetNamespace(), o.GetName(), how)
}

// merge patches the metadata of an object. It returns a conflict if the object changed.
func (s *Backend) merge(ctx context.Context, o *unstructured.Unstructured, metadata map[string]any) error {
	k, err := s.admin.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return err
	}
	metadata["resourceVersion"] = o.GetResourceVersion()
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	_, err = s.admin.Patch(ctx, k, o.GetNamespace(), o.GetName(), types.MergePatchType, body, "")
	return err
}
