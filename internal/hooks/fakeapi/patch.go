package fakeapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Patch applies a JSON patch, merge patch or strategic merge patch. With the subresource
// status it changes only the status.
func (s *Server) Patch(_ context.Context, k kinds.Kind, namespace, name string, t types.PatchType, body []byte, subresource string) (*unstructured.Unstructured, error) {
	defer s.deliver()
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(k, namespace, name)
	if err != nil {
		return nil, err
	}
	if err := s.checkSubresource(k, subresource, name); err != nil {
		return nil, err
	}
	before := as(k, e.object)
	content, err := json.Marshal(before.Object)
	if err != nil {
		return nil, err
	}
	content, err = s.patched(k, content, t, body)
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	if err := utiljson.Unmarshal(content, &object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	given := &unstructured.Unstructured{Object: object}
	if given.GetName() != name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", given.GetName(), name))
	}
	next, err := s.admit(k, given)
	if _, isAnswer := errors.AsType[*apierrors.StatusError](err); err != nil && !isAnswer {
		err = apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), string(content), err.Error())})
	}
	if err != nil {
		return nil, err
	}
	return s.replace(k, e.object, next, subresource)
}

// Scale sets the number of replicas, like a patch of the subresource scale.
func (s *Server) Scale(ctx context.Context, k kinds.Kind, namespace, name string, replicas int) (*unstructured.Unstructured, error) {
	return s.Patch(ctx, k, namespace, name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), "")
}

// patched applies a patch to the JSON of an object. The error is the answer of a server.
func (s *Server) patched(k kinds.Kind, content []byte, t types.PatchType, body []byte) ([]byte, error) {
	switch t {
	case types.JSONPatchType:
		patch, err := jsonpatch.DecodePatch(body)
		if err != nil {
			return nil, apierrors.NewBadRequest("error decoding patch: " + strings.Replace(err.Error(), "type jsonpatch.Patch", "type []handlers.jsonPatchOp", 1))
		}
		content, err = patch.Apply(content)
		if err != nil {
			return nil, apierrors.NewGenericServerResponse(422, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
		return content, nil
	case types.MergePatchType:
		var patch map[string]any
		if err := json.Unmarshal(body, &patch); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
		content, err := jsonpatch.MergePatch(content, body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return content, nil
	case types.StrategicMergePatchType:
		typed := NewTyped(k)
		if typed == nil {
			return nil, unsupported()
		}
		content, err := strategicpatch.StrategicMergePatch(content, body, typed)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return content, nil
	}
	return nil, unsupported()
}

// unsupported returns the answer for a patch type that the kind does not support.
func unsupported() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 415, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %s, %s, %s", types.JSONPatchType, types.MergePatchType, types.ApplyYAMLPatchType)}}
}
