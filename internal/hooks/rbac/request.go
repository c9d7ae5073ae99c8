package rbac

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/roles"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Request is a request to an API server that needs a permission.
type Request struct {
	Verb, Group, Resource, Subresource string
	Namespace                          string // "" for cluster-scoped kinds and for all namespaces
	Name                               string // "" for create, and for lists of more than one name
	URL                                string // instead of a resource
}

// Requests are the requests of a hook, without duplicates. No RBAC rule allows those that were refused.
type Requests struct{ Allowed, Refused []Request }

// String returns such as `get deployments.apps/status "a" in namespace web`.
func (r Request) String() string {
	if r.URL != "" {
		return r.Verb + " " + r.URL
	}
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
func (r Request) Marker() string { return r.marker([]string{r.Verb}) }

// unknownName stands for a name that a user must write.
const unknownName = "..."

// NewGrant returns the request that the API server checks if an account binds a role. name is "" if it is not known.
func NewGrant(resource, namespace, name string) Request {
	return Request{Verb: Bind, Group: rbacv1.GroupName, Resource: resource, Namespace: namespace, Name: cmp.Or(name, unknownName)}
}

// MayGrant reports whether a request may grant permissions: the API server then also checks the permissions of the account.
func (r Request) MayGrant() bool {
	return r.Group == rbacv1.GroupName && slices.Contains([]string{"create", "update", "patch"}, r.Verb)
}

// NeedsChoice reports whether a user must decide about the marker for a request, which lets an account grant permissions that
// operon does not know.
func (r Request) NeedsChoice() bool { return r.Verb == Escalate || r.Name == unknownName }

// MarkersFor returns the markers that declare requests, sorted, one for each resource.
func MarkersFor(requests []Request) []string {
	verbs := map[Request][]string{}
	for _, r := range requests {
		verb := r.Verb
		r.Verb, r.Namespace = "", ""
		if verb != Bind && verb != Escalate {
			r.Name = ""
		}
		verbs[r] = append(verbs[r], verb)
	}
	var all []string
	for r, list := range verbs {
		slices.Sort(list)
		all = append(all, r.marker(slices.Compact(list)))
	}
	slices.Sort(all)
	return all
}

// The verbs with which an account may grant permissions that it does not have.
const (
	Bind     = "bind"     // a role
	Escalate = "escalate" // by changing a role
)

// marker returns the marker that allows verbs on the resource of a request. It names an object only for bind and escalate:
// these verbs on all roles would allow everything.
func (r Request) marker(verbs []string) string {
	list := strings.Join(verbs, ";")
	if r.URL != "" {
		return fmt.Sprintf("# %s:urls=%s,verbs=%s", markerName, r.URL, list)
	}
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	if r.Name != "" && (slices.Contains(verbs, Bind) || slices.Contains(verbs, Escalate)) {
		resource += ",resourceNames=" + r.Name
	}
	return fmt.Sprintf("# %s:groups=%s,resources=%s,verbs=%s", markerName, groupText(r.Group), resource, list)
}

// groupText returns a group as markers write it.
func groupText(group string) string {
	if group == "" {
		return strconv.Quote(group)
	}
	return group
}

// allow is Marker.Allows for any grants.
func allow(grants []roles.Grant, r Request, operator string) bool {
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	wanted := roles.Grant{
		Scope: roles.Scope{Cluster: r.Namespace == "", Namespace: r.Namespace},
		Group: r.Group, Resource: resource, Name: r.Name, URL: r.URL, Verb: r.Verb,
	}
	return slices.ContainsFunc(grants, func(g roles.Grant) bool {
		if r.Name == unknownName {
			g.Name = ""
		}
		if !g.Cluster && g.Namespace == "" {
			g.Namespace = operator
		}
		if g.Namespace == operator && r.Namespace == corev1.NamespaceDefault {
			g.Namespace = r.Namespace
		}
		g.Role = ""
		return g.Covers(wanted)
	})
}
