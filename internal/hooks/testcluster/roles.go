package testcluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var reviewKind = kinds.Kind{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectAccessReview", Resource: "selfsubjectaccessreviews"}

// waitForRoles waits until the API server grants the permissions of the roles, which it
// does a moment after they are created.
func (s *Backend) waitForRoles(ctx context.Context) error {
	for _, role := range s.roles {
		rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
		for _, v := range rules {
			rule, _ := v.(map[string]any)
			attributes, found := sampleAccess(rule)
			if !found {
				continue
			}
			if role.GetKind() == "Role" {
				attributes["namespace"] = role.GetNamespace()
				if role.GetNamespace() == "" {
					attributes["namespace"] = s.namespace
				}
			}
			err := until(ctx, fmt.Sprintf("the API server does not grant the permissions of %s %s", role.GetKind(), role.GetName()), func() (bool, error) {
				review := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": reviewKind.Kind,
					"spec": map[string]any{"resourceAttributes": attributes}}}
				answer, err := s.hook.Create(ctx, reviewKind, review)
				if err != nil {
					return false, err
				}
				granted, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
				return granted, err
			})
			if err != nil {
				return err
			}
			break // all rules of a role take effect together
		}
	}
	return nil
}

// sampleAccess returns the resource attributes of one access that a rule allows, if any.
func sampleAccess(rule map[string]any) (attributes map[string]any, found bool) {
	attributes = map[string]any{}
	for attribute, key := range map[string]string{"verb": "verbs", "group": "apiGroups", "resource": "resources", "name": "resourceNames"} {
		values, _, _ := unstructured.NestedStringSlice(rule, key)
		if len(values) > 0 {
			attributes[attribute] = values[0]
		}
	}
	if resource, sub, is := strings.Cut(fmt.Sprint(attributes["resource"]), "/"); is {
		attributes["resource"], attributes["subresource"] = resource, sub
	}
	return attributes, attributes["verb"] != nil && attributes["resource"] != nil
}

// isRace reports whether an error means that another client made the same change first.
func isRace(err error) bool {
	return slices.ContainsFunc([]func(error) bool{apierrors.IsNotFound, apierrors.IsConflict, apierrors.IsAlreadyExists}, func(is func(error) bool) bool { return is(err) })
}

// remove deletes an object. If it is already being deleted, remove clears its finalizers.
func (s *Backend) remove(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GetDeletionTimestamp() == nil {
		return s.delete(ctx, o, metav1.DeletePropagationBackground)
	}
	if len(o.GetFinalizers()) > 0 && !kinds.IsCRD(o.GroupVersionKind()) {
		return s.merge(ctx, o, map[string]any{"finalizers": nil})
	}
	return nil
}
