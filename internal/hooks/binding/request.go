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

// Request is what the API server asks a webhook about.
type Request struct {
	Operation   string                     // CREATE, UPDATE, DELETE or CONNECT
	Object, Old *unstructured.Unstructured // nil where the operation has none
}

// NewRequest is a request about an object as it is to be, and as it was; either may be
// nil. Without an operation it is the one that the two of them make. The error is about
// an operation that is none, or has other objects.
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
		object, old = nil, object // what is deleted is the old one
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

// about is the object that a request is about: the new one, where there is one.
func (r Request) about() *unstructured.Unstructured {
	if r.Object == nil {
		return r.Old
	}
	return r.Object
}

// Admission is the context of a request to validate or to mutate.
func (c Cluster) Admission(conf *config.Config, a config.Admission, mutates bool, r Request) (Context, error) {
	request, err := c.Request(a, r)
	if err != nil {
		return nil, err
	}
	return c.contexts(conf).Review(a, mutates, request)
}

// Request is what the API server sends to a webhook, if it does, for all that its
// matchConditions say: these are not evaluated.
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

// ownNamespace is the name of a Namespace, which is in itself as far as requests are
// concerned, and "" for all else.
func ownNamespace(k kinds.Kind, o *unstructured.Unstructured) string {
	if k.Group == "" && k.Resource == "namespaces" {
		return o.GetName()
	}
	return ""
}

// asks tells why no rule of a webhook is about an operation on a kind.
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

// isWhole reports whether a rule's resource is meant by requests about objects as a
// whole. One with all parts, such as pods/*, is.
func isWhole(rule, resource string) bool {
	of, part, _ := strings.Cut(rule, "/")
	return (of == "*" || of == resource) && (part == "" || part == "*")
}

// anyMatches reports whether the labels of an object, or those that it had, are what a
// webhook selects.
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

// elsewhere tells why a webhook does not select the namespace of an object, or "". A
// Namespace is judged by its own labels, and all else outside of namespaces is selected.
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
