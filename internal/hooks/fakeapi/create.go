package fakeapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Create stores a new object.
func (s *Server) Create(_ context.Context, k kinds.Kind, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	defer s.deliver()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.create(k, o, false)
}

// create stores a new object. A loaded one keeps the fields that only a server sets.
func (s *Server) create(k kinds.Kind, given *unstructured.Unstructured, loaded bool) (*unstructured.Unstructured, error) {
	if k.Namespaced == (given.GetNamespace() == "") {
		return nil, noPath(k, true)
	}
	o, err := s.admit(k, given)
	if err != nil {
		return nil, cannotHandle(k, err)
	}
	if !loaded {
		if o.GetResourceVersion() != "" {
			return nil, &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500,
				Message: "resourceVersion should not be set on objects to be created"}}
		}
		s.reset(k, o)
	}
	if o.GetName() == "" && o.GetGenerateName() != "" {
		o.SetName(s.generateName(o.GetGenerateName()))
	}
	if errs := s.validate(k, o); len(errs) > 0 {
		return nil, apierrors.NewInvalid(k.GVK().GroupKind(), o.GetName(), errs)
	}
	if err := s.checkNamespace(k, o); err != nil {
		return nil, err
	}
	if s.objects[keyOf(k, o.GetNamespace(), o.GetName())] != nil {
		return nil, apierrors.NewAlreadyExists(k.GVR().GroupResource(), o.GetName())
	}
	s.identify(o)
	if hasGeneration(k) && o.GetGeneration() == 0 {
		o.SetGeneration(1)
	}
	initialize(k, o)
	if isCRD(k) {
		if err := checkServable(o); err != nil {
			return nil, err
		}
	}
	s.put(k, nil, o)
	return o.DeepCopy(), nil
}

// reset removes the fields that a server ignores in a request to create.
func (s *Server) reset(k kinds.Kind, o *unstructured.Unstructured) {
	o.SetUID("")
	o.SetSelfLink("")
	o.SetGeneration(0)
	for _, name := range []string{"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		unstructured.RemoveNestedField(o.Object, "metadata", name)
	}
	if k.HasSubresource("status") && k.Resource != "nodes" {
		delete(o.Object, "status")
	}
}

// admit returns an object as a server decodes it, with defaults. The error comes from
// the decoder.
func (s *Server) admit(k kinds.Kind, given *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	content, err := json.Marshal(given.Object)
	if err != nil {
		return nil, err
	}
	if v := given.GetAPIVersion(); v != k.APIVersion() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", v, k.APIVersion()))
	}
	object, err := s.decode(k, content)
	if err != nil {
		return nil, err
	}
	o := &unstructured.Unstructured{Object: object}
	unstructured.RemoveNestedField(o.Object, "metadata", "managedFields")
	setDerived(k, o)
	return o, nil
}

// decode decodes an object, without the fields that its kind does not have.
func (s *Server) decode(k kinds.Kind, content []byte) (map[string]any, error) {
	if into := NewTyped(k); into != nil {
		return decodeTyped(into, content)
	}
	var object map[string]any
	if err := utiljson.Unmarshal(content, &object); err != nil {
		return nil, err
	}
	return object, s.normalize(k, object)
}

// normalize drops unknown fields of an object and of its metadata, and sets defaults.
func (s *Server) normalize(k kinds.Kind, object map[string]any) error {
	if object["metadata"] == nil {
		object["metadata"] = map[string]any{}
	}
	meta, _, err := objectmeta.GetObjectMeta(object, false)
	if err != nil {
		return err
	}
	v, found, err := s.validator(k)
	if err != nil {
		return err
	}
	if found {
		if _, err := v.Prune(object); err != nil {
			return err
		}
	}
	if err := objectmeta.SetObjectMeta(object, meta); err != nil {
		return err
	}
	if found {
		v.Default(object)
	}
	return nil
}

// cannotHandle returns the answer for an object that cannot be decoded.
func cannotHandle(k kinds.Kind, err error) error {
	if _, isAnswer := errors.AsType[*apierrors.StatusError](err); isAnswer {
		return err
	}
	return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", k.Kind, k.Version, k.Kind, err))
}

// checkNamespace fails when the namespace of an object does not exist or is being
// deleted.
func (s *Server) checkNamespace(k kinds.Kind, o *unstructured.Unstructured) error {
	if !k.Namespaced {
		return nil
	}
	ns := s.objects[key{resource: "namespaces", name: o.GetNamespace()}]
	if ns == nil {
		return apierrors.NewNotFound(kinds.Kind{Resource: "namespaces"}.GVR().GroupResource(), o.GetNamespace())
	}
	if ns.object.GetDeletionTimestamp() != nil {
		return apierrors.NewForbidden(k.GVR().GroupResource(), o.GetName(),
			fmt.Errorf("unable to create new content in namespace %s because it is being terminated", o.GetNamespace()))
	}
	return nil
}

// validate checks a new object.
func (s *Server) validate(k kinds.Kind, o *unstructured.Unstructured) field.ErrorList {
	errs := validateMetadata(k, o)
	if isCRD(k) {
		return append(errs, validateSchemas(o)...)
	}
	if v, found, err := s.validator(k); err != nil {
		errs = append(errs, field.InternalError(nil, err))
	} else if found {
		errs = v.Validate(context.Background(), errs, o.Object)
	}
	return errs
}
