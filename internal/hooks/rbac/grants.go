package rbac

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Request is a request to an API server that needs a permission.
type Request struct {
	Verb, Group, Resource, Subresource string
	Namespace                          string // "" for cluster-scoped kinds and for all namespaces
	Name                               string // "" for create, and for lists of more than one name
}

// String returns such as `get deployments.apps/status "a" in namespace web`.
func (r Request) String() string {
	text := r.Verb + " " + r.Resource
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Subresource != "" {
		text += "/" + r.Subresource
	}
	if r.Name != "" {
		text += fmt.Sprintf(" %q", r.Name)
	}
	if r.Namespace != "" {
		text += " in namespace " + r.Namespace
	}
	return text
}

// Marker returns the marker that declares a request.
func (r Request) Marker() string {
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	return markerFor(r.Group, resource, []string{r.Verb})
}

// Grants are the rules of roles.
type Grants struct {
	cluster    []rbacv1.PolicyRule
	namespaced map[string][]rbacv1.PolicyRule
}

// GrantsOf returns the rules of the Roles and ClusterRoles among objects. A Role without
// a namespace is in the operator's, which is "" here.
func GrantsOf(all []*unstructured.Unstructured) (Grants, error) {
	g := Grants{namespaced: map[string][]rbacv1.PolicyRule{}}
	for _, o := range all {
		var role rbacv1.Role // a ClusterRole has the same rules
		if kind := o.GetKind(); kind != "Role" && kind != "ClusterRole" {
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
			return g, fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		if o.GetKind() == "ClusterRole" {
			g.cluster = append(g.cluster, role.Rules...)
		} else {
			g.namespaced[role.Namespace] = append(g.namespaced[role.Namespace], role.Rules...)
		}
	}
	return g, nil
}

// Allow reports whether a rule allows a request. own are names of the operator's
// namespace.
func (g Grants) Allow(r Request, own ...string) bool {
	rules := slices.Clone(g.cluster)
	if r.Namespace != "" {
		rules = append(rules, g.namespaced[r.Namespace]...)
		if slices.Contains(own, r.Namespace) {
			for _, name := range append(own, "") {
				rules = append(rules, g.namespaced[name]...)
			}
		}
	}
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool { return allows(rule, r) })
}

func allows(rule rbacv1.PolicyRule, r Request) bool {
	has := func(list []string, value string) bool {
		return slices.Contains(list, value) || slices.Contains(list, rbacv1.ResourceAll)
	}
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	return has(rule.Verbs, r.Verb) && has(rule.APIGroups, r.Group) &&
		(has(rule.Resources, resource) || r.Subresource != "" && slices.Contains(rule.Resources, "*/"+r.Subresource)) &&
		(len(rule.ResourceNames) == 0 || r.Name != "" && slices.Contains(rule.ResourceNames, r.Name))
}

// NameSelected returns the name that a field selector selects, or "".
func NameSelected(fieldSelector string) string {
	name, found := strings.CutPrefix(fieldSelector, "metadata.name=")
	if !found || strings.ContainsAny(name, ",=") {
		return ""
	}
	return name
}
