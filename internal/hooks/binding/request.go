package binding

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Request is an admission request.
type Request struct {
	Operation   string                     // CREATE, UPDATE, DELETE or CONNECT
	Object, Old *unstructured.Unstructured // nil if the operation has none
}

// NewRequest returns a request with a new and an old object; either can be nil. An empty
// operation is derived from the objects. NewRequest fails if the operation is unknown or
// does not match the objects.
func NewRequest(operation string, object, old *unstructured.Unstructured) (Request, error) {
	switch {
	case operation != "":
	case object == nil:
		operation = "DELETE"
	case old != nil:
		operation = "UPDATE"
	default:
		operation = "CREATE"
	}
	if operation == "DELETE" && old == nil {
		object, old = nil, object // a deleted object is the old one
	}
	r := Request{operation, object, old}
	switch operation {
	case "CREATE", "CONNECT":
		if object == nil || old != nil {
			return r, fmt.Errorf("a request to %s is about an object, and about none that was before", operation)
		}
	case "UPDATE":
		if object == nil || old == nil {
			return r, errors.New("a request to UPDATE is about an object as it is to be, and as it was")
		}
	case "DELETE":
		if r.Object = nil; old == nil {
			return r, errors.New("a request to DELETE is about an object")
		}
	default:
		return r, fmt.Errorf("unknown operation %q: it is CREATE, UPDATE, DELETE or CONNECT", operation)
	}
	return r, nil
}

// about returns the object of a request: the new one, or else the old one.
func (r Request) about() *unstructured.Unstructured {
	if r.Object == nil {
		return r.Old
	}
	return r.Object
}

// Admission returns the context of an admission request.
func (c Cluster) Admission(conf *config.Config, a config.Admission, mutates bool, r Request) (Context, error) {
	request, err := c.Request(a, r)
	if err != nil {
		return nil, err
	}
	return c.contexts(conf).Review(a, mutates, request)
}

// Request returns the request that the API server sends to a webhook, or an error if the
// webhook does not match. It does not evaluate matchConditions.
func (c Cluster) Request(a config.Admission, r Request) (map[string]any, error) {
	o := r.about()
	k, err := c.Kinds().FindObject(o.GroupVersionKind())
	if err != nil {
		return nil, notRun("its rules name resources, and which one this is does nobody know: %v", err)
	}
	if err := asks(a, r.Operation, k); err != nil {
		return nil, err
	}
	if ok, err := anyMatches(a, r); err != nil || !ok {
		return nil, cmp.Or(err, notRun("the labelSelector of %s does not match %s", a.Name, name(o)))
	}
	if reason, err := c.elsewhere(a, k, o); err != nil || reason != "" {
		return nil, cmp.Or(err, notRun("%s is not called for %s: %s", a.Name, name(o), reason))
	}
	kind := map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}
	of := map[string]any{"group": k.Group, "version": k.Version, "resource": k.Resource}
	request := map[string]any{
		"uid": "00000000-0000-0000-0000-000000000000", "kind": kind, "resource": of, "requestKind": kind, "requestResource": of,
		"name": o.GetName(), "operation": r.Operation, "userInfo": map[string]any{"username": "kubernetes-admin", "groups": []string{"system:masters", "system:authenticated"}},
		"object": null(r.Object), "oldObject": null(r.Old), "dryRun": false, "options": nil,
	}
	if ns := cmp.Or(o.GetNamespace(), ownNamespace(k, o)); ns != "" {
		request["namespace"] = ns
	}
	return request, nil
}

// ownNamespace returns the name of a Namespace object, or "" for other objects. Requests
// treat a Namespace as an object in itself.
func ownNamespace(k kinds.Kind, o *unstructured.Unstructured) string {
	if k.Group == "" && k.Resource == "namespaces" {
		return o.GetName()
	}
	return ""
}

// asks returns an error if no rule of a webhook matches an operation on a kind.
func asks(a config.Admission, operation string, k kinds.Kind) error {
	about := func(version string) func(config.Requests) bool {
		return func(rule config.Requests) bool {
			return has(rule.Operations, operation) && has(rule.APIGroups, k.Group) && has(rule.APIVersions, version) &&
				slices.ContainsFunc(rule.Resources, func(resource string) bool { return isWhole(resource, k.Resource) }) && inScope(rule.Scope, k)
		}
	}
	if slices.ContainsFunc(a.Rules, about(k.Version)) {
		return nil
	}
	for _, version := range k.Versions {
		if slices.ContainsFunc(a.Rules, about(version)) { // matchPolicy is Equivalent
			return notRun("%s is asked about %s in version %s, to which the API server converts them: give the object in that version", a.Name, k.Resource, version)
		}
	}
	return notRun("no rule of %s is about %s of %s", a.Name, operation, k.APIVersion()+"/"+k.Resource)
}

// isWhole reports whether a rule's resource matches requests for full objects. A resource
// with all subresources, such as pods/*, matches.
func isWhole(rule, resource string) bool {
	of, part, _ := strings.Cut(rule, "/")
	return (of == "*" || of == resource) && (part == "" || part == "*")
}

// anyMatches reports whether a webhook selects the labels of the new or the old object.
func anyMatches(a config.Admission, r Request) (bool, error) {
	for _, o := range []*unstructured.Unstructured{r.Object, r.Old} {
		if o == nil {
			continue
		}
		if ok, err := matches(a.LabelSelector, o); err != nil || ok {
			return ok, err
		}
	}
	return false, nil
}

// elsewhere returns the reason why a webhook does not select the namespace of an object, or
// "". For a Namespace it uses the object's own labels. Other cluster-scoped objects match.
func (c Cluster) elsewhere(a config.Admission, k kinds.Kind, o *unstructured.Unstructured) (string, error) {
	switch {
	case a.Namespace == nil || o.GetNamespace() == "" && ownNamespace(k, o) == "":
		return "", nil
	case o.GetNamespace() != "":
		return c.outside(a.Namespace, o)
	}
	if ok, err := matches(a.Namespace.LabelSelector, o); err != nil || ok {
		return "", err
	}
	return "its namespace selector matches no labels of the object itself", nil
}

func has(list []string, value string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, value)
}

func inScope(scope string, k kinds.Kind) bool {
	switch scope {
	case "Cluster":
		return !k.Namespaced
	case "Namespaced":
		return k.Namespaced
	}
	return true
}

func null(o *unstructured.Unstructured) any {
	if o == nil {
		return nil
	}
	return o
}
