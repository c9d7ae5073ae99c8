package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const modified = "the object has been modified; please apply your changes to the latest version and try again"

// Update replaces an object. With the subresource status it replaces only the status. A
// resourceVersion, if set, must match the stored object.
func (s *Server) Update(_ context.Context, k kinds.Kind, o *unstructured.Unstructured, subresource string) (*unstructured.Unstructured, error) {
	defer s.deliver()
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.find(k, o.GetNamespace(), o.GetName())
	if err != nil {
		return nil, err
	}
	if err := s.checkSubresource(k, subresource, o.GetName()); err != nil {
		return nil, err
	}
	next, err := s.admit(k, o)
	if err != nil {
		return nil, cannotHandle(k, err)
	}
	if next.GetResourceVersion() == "" && (isCRD(k) || s.crdOf(k) != nil) {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: k.Group, Kind: k.Resource}, next.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update")})
	}
	return s.replace(k, e.object, next, subresource)
}

// checkSubresource fails when a kind does not have a subresource.
func (s *Server) checkSubresource(k kinds.Kind, subresource, name string) error {
	switch wanted := strings.Trim(subresource, "/"); {
	case wanted == "", wanted == "status" && k.HasSubresource("status"):
		return nil
	case s.crdOf(k) != nil:
		return apierrors.NewNotFound(k.GVR().GroupResource(), name)
	case k.HasSubresource(wanted):
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 501, Reason: metav1.StatusReasonMethodNotAllowed,
			Message: fmt.Sprintf("the subresource %s of %s is not available in hook tests", wanted, k)}}
	}
	return noPath(k, false)
}

// replace stores next instead of old, without the changes that a server ignores.
func (s *Server) replace(k kinds.Kind, old, next *unstructured.Unstructured, subresource string) (*unstructured.Unstructured, error) {
	name := old.GetName()
	if v := next.GetResourceVersion(); v != "" && v != old.GetResourceVersion() {
		return nil, apierrors.NewConflict(k.GVR().GroupResource(), name, errors.New(modified))
	}
	if uid := next.GetUID(); uid != "" && uid != old.GetUID() {
		return nil, apierrors.NewConflict(k.GVR().GroupResource(), name,
			fmt.Errorf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: %v, UID in object meta: %v",
				path.Join("/registry", k.Group, k.Resource, old.GetNamespace(), name), uid, old.GetUID()))
	}
	s.restrict(k, old, next, subresource)
	if errs := s.validateUpdate(k, old, next, subresource); len(errs) > 0 {
		return nil, apierrors.NewInvalid(k.GVK().GroupKind(), name, errs)
	}
	if err := checkFinalizers(k, old, next); err != nil {
		return nil, err
	}
	if isCRD(k) {
		if err := checkServable(next); err != nil {
			return nil, err
		}
	}
	if changesSpec(old, next) && hasGeneration(k) {
		next.SetGeneration(old.GetGeneration() + 1)
	}
	if equality.Semantic.DeepEqual(old.Object, next.Object) {
		return next, nil
	}
	s.put(k, old, next)
	result := next.DeepCopy()
	if next.GetDeletionTimestamp() != nil {
		s.finish(k, next)
	}
	return result, nil
}

// validateUpdate checks an object that replaces an older one.
func (s *Server) validateUpdate(k kinds.Kind, old, next *unstructured.Unstructured, subresource string) field.ErrorList {
	errs := validateMetadata(k, next)
	v, found, err := s.validator(k)
	switch {
	case err != nil:
		errs = append(errs, field.InternalError(nil, err))
	case found && subresource != "":
		errs = v.ValidateStatusUpdate(context.Background(), errs, next.Object, old.Object)
	case found:
		errs = v.ValidateUpdate(context.Background(), errs, next.Object, old.Object)
	case isCRD(k) && subresource == "":
		errs = append(errs, validateSchemas(next)...)
	}
	return append(errs, validateImmutable(k, old, next)...)
}

// restrict restores the fields of old that an update cannot change.
func (s *Server) restrict(k kinds.Kind, old, next *unstructured.Unstructured, subresource string) {
	status, hasStatus := next.Object["status"]
	if subresource != "" {
		kept := old.DeepCopy()
		next.Object = kept.Object
		setOrDelete(next.Object, "status", status, hasStatus)
	} else if k.HasSubresource("status") {
		before, found := old.DeepCopy().Object["status"]
		setOrDelete(next.Object, "status", before, found)
	}
	next.SetAPIVersion(k.APIVersion())
	next.SetName(old.GetName())
	next.SetResourceVersion(old.GetResourceVersion())
	next.SetUID(old.GetUID())
	next.SetGeneration(old.GetGeneration())
	for _, name := range []string{"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generateName"} {
		before, found, _ := unstructured.NestedFieldCopy(old.Object, "metadata", name)
		if meta, isObject := next.Object["metadata"].(map[string]any); isObject {
			setOrDelete(meta, name, before, found)
		}
	}
	if next.GetGeneration() == 0 {
		unstructured.RemoveNestedField(next.Object, "metadata", "generation")
	}
}

func setOrDelete(object map[string]any, name string, v any, found bool) {
	if found {
		object[name] = v
	} else {
		delete(object, name)
	}
}

// changesSpec reports whether a field outside metadata and status differs.
func changesSpec(old, next *unstructured.Unstructured) bool {
	spec := func(o *unstructured.Unstructured) map[string]any {
		rest := map[string]any{}
		for name, v := range o.Object {
			if name != "metadata" && name != "status" && name != "apiVersion" {
				rest[name] = v
			}
		}
		return rest
	}
	return !reflect.DeepEqual(spec(old), spec(next))
}

// checkFinalizers fails when an update adds finalizers to an object that is being
// deleted.
func checkFinalizers(k kinds.Kind, old, next *unstructured.Unstructured) error {
	if old.GetDeletionTimestamp() == nil {
		return nil
	}
	var added []string
	for _, f := range next.GetFinalizers() {
		if !slices.Contains(old.GetFinalizers(), f) {
			added = append(added, f)
		}
	}
	if len(added) == 0 {
		return nil
	}
	return apierrors.NewInvalid(k.GVK().GroupKind(), old.GetName(), field.ErrorList{field.Forbidden(field.NewPath("metadata", "finalizers"),
		fmt.Sprintf("no new finalizers can be added if the object is being deleted, found new finalizers %#v", added))})
}

// validateImmutable checks the immutable fields of built-in kinds.
func validateImmutable(k kinds.Kind, old, next *unstructured.Unstructured) field.ErrorList {
	var errs field.ErrorList
	for _, name := range kinds.ImmutableFields(k.GVK().GroupKind()) {
		before, v := valueAt(old.Object, name), valueAt(next.Object, name)
		isSetOnce := k.Kind == "PersistentVolumeClaim" && before == nil // by the controller that binds it
		if isSetOnce || equality.Semantic.DeepEqual(v, before) {
			continue
		}
		message := "field is immutable"
		if name == "roleRef" {
			message = "cannot change roleRef"
		}
		errs = append(errs, field.Invalid(fieldPath(name), v, message))
	}
	if old.Object["immutable"] == true && k.Group == "" && (k.Kind == "ConfigMap" || k.Kind == "Secret") {
		for _, name := range []string{"immutable", "data", "binaryData"} {
			if !equality.Semantic.DeepEqual(next.Object[name], old.Object[name]) {
				errs = append(errs, field.Forbidden(field.NewPath(name), "field is immutable when `immutable` is set"))
			}
		}
	}
	return errs
}

func fieldPath(name string) *field.Path {
	names := strings.Split(name, ".")
	return field.NewPath(names[0], names[1:]...)
}
