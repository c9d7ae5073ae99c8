package rbac

import (
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/roles"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// allowEscalation allows the permissions that an object grants: the API server lets an account
// grant only those that it has.
func (d *deriver) allowEscalation(f found, in roles.Scope) {
	gk := f.object.GroupVersionKind().GroupKind()
	if gk.Group != rbacv1.GroupName {
		return
	}
	switch gk.Kind {
	case "ClusterRole", "Role":
		if gk.Kind == "ClusterRole" {
			in = roles.Everywhere
			if _, aggregates, _ := unstructured.NestedMap(f.object.Object, "aggregationRule"); aggregates {
				d.find(RuleEscalation.At(f.file, 0, 0, "only an account with all permissions may create a ClusterRole with an aggregationRule, which the chart has%s: list its rules instead, or create it outside of the chart", f.with()))
			}
		}
		d.allowRules(f, in)
	case "ClusterRoleBinding", "RoleBinding":
		d.allowBinding(f, in)
	}
}

// allowRules allows all that a role allows.
func (d *deriver) allowRules(f found, in roles.Scope) {
	var role rbacv1.ClusterRole // a Role has the same rules
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(f.object.Object, &role); err != nil {
		return // the API server refuses it
	}
	reason := f.reason(f.object.GetKind() + " grants it")
	for _, rule := range role.Rules {
		if what := broad(rule); what != "" {
			d.find(RuleEscalation.At(f.file, 0, 0, "%s %s grants %s%s, so the operator needs that, too", f.object.GetKind(), f.object.GetName(), what, f.with()))
		}
		for _, g := range grantsOf(in, rule) {
			g.Reason = reason
			d.grant(g)
		}
	}
}

// broad describes a rule that grants more than verbs on resources that it names, or returns "".
func broad(rule rbacv1.PolicyRule) string {
	if slices.Contains(rule.NonResourceURLs, "*") || slices.Contains(rule.NonResourceURLs, "/*") {
		return strings.Join(rule.Verbs, ", ") + " on all URLs"
	}
	verbs, groups, resources := slices.Contains(rule.Verbs, "*"), slices.Contains(rule.APIGroups, "*"), slices.Contains(rule.Resources, "*")
	what := strings.Join(rule.Resources, ", ")
	if resources {
		what = "all resources"
	}
	switch {
	case verbs && groups && resources:
		return "all permissions"
	case groups:
		what += " of all API groups"
	case resources:
		what += " of the API groups " + strconv.Quote(strings.Join(rule.APIGroups, ", "))
	case !verbs:
		return ""
	}
	if verbs {
		return "all verbs on " + what
	}
	return strings.Join(rule.Verbs, ", ") + " on " + what
}

// allowBinding allows binding a role that the chart does not create. The operator has the
// permissions of the others.
func (d *deriver) allowBinding(f found, in roles.Scope) {
	kind, _, _ := unstructured.NestedString(f.object.Object, "roleRef", "kind")
	name, _, _ := unstructured.NestedString(f.object.Object, "roleRef", "name")
	if d.creates(kind, name) || name == "" {
		return
	}
	if strings.Contains(name, release.Name) {
		d.find(RuleEscalation.At(f.file, 0, 0, "%s %s refers to a %s that no set of values renders: the operator needs its permissions, or the verb bind on it", f.object.GetKind(), f.object.GetName(), kind))
		return
	}
	resource := "roles"
	if kind == "ClusterRole" {
		resource = "clusterroles"
	}
	d.allow(in, rbacv1.GroupName, resource, name, f.reason(f.object.GetKind()+" binds it"), "bind")
}

// creates reports whether the chart creates a role.
func (d *deriver) creates(kind, name string) bool {
	return slices.ContainsFunc(d.found, func(f found) bool {
		gk := f.object.GroupVersionKind().GroupKind()
		return gk.Group == rbacv1.GroupName && gk.Kind == kind && f.object.GetName() == name
	})
}
