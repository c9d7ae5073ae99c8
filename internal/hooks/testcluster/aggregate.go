package testcluster

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// aggregate fills the rules of aggregated ClusterRoles, such as edit, as
// kube-controller-manager does. Without their rules, the API server lets hooks bind these
// roles that they may not bind on other clusters.
func (g garbage) aggregate(ctx context.Context) (did bool, err error) {
	var all []rbacv1.ClusterRole // sorted by name, as all objects of a listing
	for _, o := range g.all {
		if o.GetKind() != "ClusterRole" || o.GroupVersionKind().Group != rbacv1.GroupName {
			continue
		}
		var role rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
			return did, err
		}
		all = append(all, role)
	}
	for _, role := range all {
		if role.AggregationRule == nil {
			continue
		}
		rules, err := aggregated(role, all)
		if err != nil {
			return did, err
		}
		if equality.Semantic.DeepEqual(rules, role.Rules) {
			continue
		}
		did, role.Rules = true, rules
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&role)
		if err != nil {
			return did, err
		}
		if _, err := g.admin.Update(ctx, clusterRoleKind, &unstructured.Unstructured{Object: content}, ""); err != nil && !isRace(err) {
			return did, err
		}
	}
	return did, nil
}

// aggregated returns the rules of the ClusterRoles that an aggregated one selects. All roles are
// sorted by name, which is the order of kube-controller-manager.
func aggregated(role rbacv1.ClusterRole, all []rbacv1.ClusterRole) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	for _, s := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&s)
		if err != nil {
			return nil, err
		}
		for _, other := range all {
			if other.Name == role.Name || !selector.Matches(labels.Set(other.Labels)) {
				continue
			}
			for _, rule := range other.Rules {
				if !slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(r, rule) }) {
					rules = append(rules, rule)
				}
			}
		}
	}
	return rules, nil
}
