package testcluster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// reset restores the objects that existed when the backend was opened, and
// removes all others.
func (s *Backend) reset(ctx context.Context) error {
	var deleted []*account
	left := ""
	err := until(ctx, "the API server still has objects of the test", func() (bool, error) {
		l, err := s.mirror.list(ctx)
		if err != nil {
			return false, err
		}
		clean := true
		for _, o := range l.objects {
			original := s.base[identity(o)]
			switch {
			case original == nil:
				clean, left = false, name(o)
				err = s.remove(ctx, o)
			case o.GetDeletionTimestamp() != nil:
				clean = clean && original.GetDeletionTimestamp() != nil
			case !sameContent(original, o):
				clean, left = false, name(o)
				err = s.put(ctx, original)
			}
			if err != nil && !isRace(err) {
				return false, err
			}
		}
		existing := map[string]bool{}
		for _, o := range l.objects {
			existing[identity(o)] = true
		}
		for id, original := range s.base {
			if !existing[id] && original.GetDeletionTimestamp() == nil {
				clean = false
				for _, a := range s.accounts {
					if id == identity(a.serviceAccount()) && !slices.Contains(deleted, a) {
						deleted = append(deleted, a)
					}
				}
				if err := s.put(ctx, original); err != nil && !isRace(err) {
					return false, err
				}
			}
		}
		if clean {
			return true, s.loginAll(ctx, deleted)
		}
		return false, nil
	})
	switch {
	case err == nil:
		return nil
	case utilnet.IsConnectionRefused(err), utilnet.IsProbableEOF(err):
		return hooktest.ErrStopped
	case left == "":
		return fmt.Errorf("cleanup failed: %w", err)
	}
	return fmt.Errorf("cleanup failed: %w, such as %s", err, left)
}

// sameContent reports whether two states of an object differ at most in fields that change with each write.
func sameContent(a, b *unstructured.Unstructured) bool {
	return a.GetResourceVersion() == b.GetResourceVersion() || reflect.DeepEqual(withoutServerFields(a), withoutServerFields(b))
}

// withoutServerFields returns an object without the fields that change with each write.
func withoutServerFields(o *unstructured.Unstructured) map[string]any {
	c := o.DeepCopy()
	c.SetResourceVersion("")
	c.SetManagedFields(nil)
	c.SetGeneration(0)
	c.SetUID("")
	unstructured.RemoveNestedField(c.Object, "metadata", "creationTimestamp")
	if c.GetKind() == "CustomResourceDefinition" {
		delete(c.Object, "status")
	}
	return c.Object
}

// isRace reports whether an error means that another client made the same change first, or deleted the kind.
func isRace(err error) bool {
	if _, gone := errors.AsType[*kubeapi.UnknownKindError](err); gone {
		return true
	}
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}

// remove deletes an object. If it is already being deleted, remove clears its finalizers. It does not wait for a
// controller: reset removes the objects of a namespace, too.
func (s *Backend) remove(ctx context.Context, o *unstructured.Unstructured) error {
	switch {
	case isNamespace(o):
		if o.GetDeletionTimestamp() == nil {
			if err := s.delete(ctx, o, metav1.DeletePropagationBackground); err != nil {
				return err
			}
		}
		return s.finalizers(ctx, o.GetName(), func([]any) []any { return nil })
	case o.GetDeletionTimestamp() == nil:
		return s.delete(ctx, o, metav1.DeletePropagationBackground)
	case isPod(o) && len(o.GetFinalizers()) == 0:
		return s.admin.DeleteNow(ctx, podKind, o.GetNamespace(), o.GetName())
	}
	if len(o.GetFinalizers()) > 0 && !kubeapi.IsCRD(o.GroupVersionKind()) {
		return s.merge(ctx, o, map[string]any{"finalizers": nil})
	}
	return nil
}
