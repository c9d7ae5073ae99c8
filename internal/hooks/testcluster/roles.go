package testcluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/hooktest"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

var reviewKind = kubeapi.Kind{
	Group: "authorization.k8s.io", Version: "v1",
	Kind: "SelfSubjectAccessReview", Resource: "selfsubjectaccessreviews",
}

// clusterRoles returns the ClusterRoles of an account.
func (a *account) clusterRoles() []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(a.Roles), func(r *unstructured.Unstructured) bool { return r.GetKind() != "ClusterRole" })
}

// rolesIn returns the Roles of an account in a namespace. The Roles in the operator's
// namespace also apply in the one where hooks seem to run.
func (s *Backend) rolesIn(a *account, namespace string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, r := range a.Roles {
		if r.GetKind() != "Role" {
			continue
		}
		in := cmp.Or(r.GetNamespace(), s.namespace)
		if in != namespace && (in != s.namespace || namespace != hooktest.HookNamespace) {
			continue
		}
		r = r.DeepCopy()
		r.SetNamespace(namespace)
		if in != namespace {
			r.SetName(r.GetName() + "-operator") // the namespace may have a Role with the name
		}
		all = append(all, r)
	}
	return all
}

// grantRoles grants the accounts of the test their Roles in a namespace, and waits until the API server
// grants the permissions.
func (s *Backend) grantRoles(ctx context.Context, namespace string) error {
	for _, a := range s.active {
		roles := s.rolesIn(a, namespace)
		for _, r := range roles {
			if err := s.grant(ctx, a, r); err != nil {
				return err
			}
		}
		if err := a.waitForRoles(ctx, roles); err != nil {
			return err
		}
	}
	return nil
}

// grant creates a role and binds it to an account.
func (s *Backend) grant(ctx context.Context, a *account, role *unstructured.Unstructured) error {
	binding := object(role.GetAPIVersion(), role.GetKind()+"Binding", role.GetNamespace(), role.GetName())
	binding.Object["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": role.GetKind(), "name": role.GetName()}
	binding.Object["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "namespace": a.id.Namespace, "name": a.id.Name}}
	for _, o := range []*unstructured.Unstructured{role, binding} {
		if err := s.put(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// waitForRoles waits until the API server grants the permissions of roles, which it does a
// moment after they are created.
func (a *account) waitForRoles(ctx context.Context, roles []*unstructured.Unstructured) error {
	for _, role := range roles {
		rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
		for _, v := range rules {
			rule, _ := v.(map[string]any)
			attributes, found := sampleAccess(rule)
			if !found {
				continue
			}
			if role.GetKind() == "Role" {
				attributes["namespace"] = role.GetNamespace()
			}
			err := until(ctx, fmt.Sprintf("the API server does not grant the permissions of %s %s", role.GetKind(), role.GetName()), func() (bool, error) {
				return a.isGranted(ctx, attributes)
			})
			if err != nil {
				return err
			}
			break // all rules of a role take effect together
		}
	}
	return nil
}

// isGranted reports whether the API server grants an access to an account.
func (a *account) isGranted(ctx context.Context, attributes map[string]any) (bool, error) {
	review := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": reviewKind.Kind,
		"spec": map[string]any{"resourceAttributes": attributes}}}
	answer, err := a.client.Create(ctx, reviewKind, review)
	if err != nil {
		return false, err
	}
	granted, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
	return granted, err
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

// lacksRules reports whether an aggregated ClusterRole, such as edit, lacks rules of those that it selects. Without its
// rules, the API server lets hooks bind a role that they may not bind on other clusters.
func lacksRules(all []*unstructured.Unstructured) (bool, error) {
	var roles []rbacv1.ClusterRole
	for _, o := range all {
		if o.GetKind() != "ClusterRole" || o.GroupVersionKind().Group != rbacv1.GroupName {
			continue
		}
		var role rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
			return false, err
		}
		roles = append(roles, role)
	}
	for _, role := range roles {
		if role.AggregationRule == nil {
			continue
		}
		for _, s := range role.AggregationRule.ClusterRoleSelectors {
			selector, err := metav1.LabelSelectorAsSelector(&s)
			if err != nil {
				return false, err
			}
			for _, other := range roles {
				if other.Name == role.Name || !selector.Matches(labels.Set(other.Labels)) {
					continue
				}
				for _, rule := range other.Rules {
					if !slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(r, rule) }) {
						return true, nil
					}
				}
			}
		}
	}
	return false, nil
}

// bindsRoles reports whether a rule of a role is about bindings of roles.
func bindsRoles(role *unstructured.Unstructured) bool {
	rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
	for _, v := range rules {
		rule, _ := v.(map[string]any)
		resources, _, _ := unstructured.NestedStringSlice(rule, "resources")
		if slices.ContainsFunc(resources, func(r string) bool { return r == "*" || strings.HasSuffix(r, "rolebindings") }) {
			return true
		}
	}
	return false
}
