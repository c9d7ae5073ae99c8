package rbac

import (
	"fmt"
	"strings"
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

// nameSelected returns the name that a field selector selects, or "".
func nameSelected(fieldSelector string) string {
	name, found := strings.CutPrefix(fieldSelector, "metadata.name=")
	if !found || strings.ContainsAny(name, ",=") {
		return ""
	}
	return name
}
