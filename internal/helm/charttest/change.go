package charttest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// change makes the change of an event.
func (s *session) change(ctx context.Context, e Event) error {
	api, o := s.cluster.User(), e.Object
	k, err := api.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return err
	}
	if e.Type == "delete" {
		return api.Delete(ctx, k, o.GetNamespace(), o.GetName(), metav1.DeletePropagationBackground)
	}
	if s.chartOf(o) >= 0 {
		if err := s.checkFields(ctx, k, o); err != nil {
			return err
		}
	}
	if e.Type == "patch" {
		body, err := json.Marshal(o.Object)
		if err == nil {
			_, err = api.Patch(ctx, k, o.GetNamespace(), o.GetName(), types.MergePatchType, body, "")
		}
		return err
	}
	existing, err := api.Get(ctx, k, o.GetNamespace(), o.GetName())
	if apierrors.IsNotFound(err) {
		_, err = api.Create(ctx, k, o)
		return err
	}
	if err != nil {
		return err
	}
	next := o.DeepCopy()
	next.SetUID(existing.GetUID())
	next.SetResourceVersion(existing.GetResourceVersion())
	next.SetFinalizers(existing.GetFinalizers())
	next.SetOwnerReferences(existing.GetOwnerReferences())
	_, err = api.Update(ctx, k, next, "")
	return err
}

// crdKind is the kind of CRDs.
var crdKind = kinds.Kind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions"}

// checkFields returns an error for a custom resource with fields that its CRD does not have. kubectl asks API
// servers to refuse them; without that, they drop the fields.
func (s *session) checkFields(ctx context.Context, k kinds.Kind, o *unstructured.Unstructured) error {
	crd, err := s.cluster.User().Get(ctx, crdKind, "", k.Resource+"."+k.Group)
	if err != nil {
		return err
	}
	validator, err := crdschema.NewValidator(crdschema.Of(crd, k.Version))
	if err != nil {
		return err
	}
	unknown, err := validator.Prune(o.DeepCopy().Object)
	if err != nil || len(unknown) == 0 {
		return err
	}
	for i, field := range unknown {
		unknown[i] = strconv.Quote(field)
	}
	return fmt.Errorf("unknown field %s", strings.Join(unknown, ", "))
}
