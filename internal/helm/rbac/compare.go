package rbac

import (
	"slices"

	"github.com/operon-dev/operon/internal/roles"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Compare compares derived roles with the Roles and ClusterRoles among objects. It returns the
// permissions that the objects lack, and those that are not needed, sorted. Names of roles do not count.
func Compare(derived roles.List, existing []*unstructured.Unstructured) (missing, unneeded []string, err error) {
	var want []roles.Grant
	for _, role := range derived {
		for _, rule := range role.Rules {
			want = append(want, grantsOf(roles.Scope{Cluster: role.Cluster, Namespace: role.Namespace}, rule.PolicyRule)...)
		}
	}
	have, err := grantsIn(existing)
	if err != nil {
		return nil, nil, err
	}
	return uncovered(want, have), uncovered(have, want), nil
}

// Changes compares the Roles and ClusterRoles among two lists of objects. It returns the permissions that
// only the second list has, and those that only the first one has, sorted.
func Changes(before, after []*unstructured.Unstructured) (added, removed []string, err error) {
	old, err := grantsIn(before)
	if err != nil {
		return nil, nil, err
	}
	next, err := grantsIn(after)
	if err != nil {
		return nil, nil, err
	}
	return uncovered(next, old), uncovered(old, next), nil
}

// grantsIn returns the grants of the Roles and ClusterRoles among objects.
func grantsIn(objects []*unstructured.Unstructured) ([]roles.Grant, error) {
	var all []roles.Grant
	for _, o := range objects {
		if o.GetKind() != "Role" && o.GetKind() != "ClusterRole" {
			continue
		}
		var role rbacv1.Role // a ClusterRole has the same rules
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
			return nil, err
		}
		for _, rule := range role.Rules {
			all = append(all, grantsOf(roles.Scope{Cluster: o.GetKind() == "ClusterRole", Namespace: role.Namespace}, rule)...)
		}
	}
	return all, nil
}

// uncovered describes the grants that no other one covers.
func uncovered(all, by []roles.Grant) []string {
	var texts []string
	for _, g := range all {
		if !slices.ContainsFunc(by, func(other roles.Grant) bool { return other.Covers(g) }) {
			texts = append(texts, g.String())
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// grantsOf returns the single grants of a rule.
func grantsOf(in roles.Scope, rule rbacv1.PolicyRule) []roles.Grant {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var all []roles.Grant
	for _, verb := range rule.Verbs {
		for _, url := range rule.NonResourceURLs {
			all = append(all, roles.Grant{Scope: in, URL: url, Verb: verb})
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					all = append(all, roles.Grant{Scope: in, Group: group, Resource: resource, Name: name, Verb: verb})
				}
			}
		}
	}
	return all
}
