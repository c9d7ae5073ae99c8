package binding

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Request is an admission request.
type Request struct {
	Operation   string                     // CREATE, UPDATE, DELETE or CONNECT
	Object, Old *unstructured.Unstructured // nil if the operation has none
}

// NewRequest returns a request with a new and an old object. Either can be nil. If the operation
// is empty, the objects determine it. An operation that is unknown or does not match the objects
// is an error.
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
		object, old = nil, object // a deleted object is an old object
	}
	r := Request{operation, object, old}
	switch operation {
	case "CREATE", "CONNECT":
		if object == nil || old != nil {
			return r, fmt.Errorf("a %s request must have an object and no old object", operation)
		}
	case "UPDATE":
		if object == nil || old == nil {
			return r, errors.New("an UPDATE request must have an object and an old object")
		}
	case "DELETE":
		if r.Object = nil; old == nil {
			return r, errors.New("a DELETE request must have an object")
		}
	default:
		return r, fmt.Errorf("unknown operation %q: it must be CREATE, UPDATE, DELETE or CONNECT", operation)
	}
	return r, nil
}

// object returns the new object, or the old object if there is no new one.
func (r Request) object() *unstructured.Unstructured {
	if r.Object == nil {
		return r.Old
	}
	return r.Object
}

// Admission returns the context of an admission request.
func (c Cluster) Admission(conf *config.Config, a config.Admission, mutating bool, r Request) (Context, error) {
	request, err := c.Request(a, r)
	if err != nil {
		return nil, err
	}
	return c.contexts(conf).Admission(a, mutating, request)
}

// Request returns the request that the API server sends to a webhook. If the webhook does not
// match, the error is a *NotRunError. Request does not evaluate matchConditions.
func (c Cluster) Request(a config.Admission, r Request) (map[string]any, error) {
	o := r.object()
	k, err := c.Kinds().FindObject(o.GroupVersionKind())
	if err != nil {
		return nil, notRun("its rules match resources, but the resource of the object is unknown: %v", err)
	}
	if err := matchRules(a, r.Operation, k); err != nil {
		return nil, err
	}
	if ok, err := matchLabels(a, r); err != nil || !ok {
		return nil, cmp.Or(err, notRun("the labelSelector of %s does not match %s", a.Name, objectName(o)))
	}
	if reason, err := c.webhookMismatch(a, k, o); err != nil || reason != "" {
		return nil, cmp.Or(err, notRun("%s is not called for %s: %s", a.Name, objectName(o), reason))
	}
	kind := map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}
	resource := map[string]any{"group": k.Group, "version": k.Version, "resource": k.Resource}
	request := map[string]any{
		"uid": "00000000-0000-0000-0000-000000000000", "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
		"name": o.GetName(), "operation": r.Operation,
		"userInfo": map[string]any{"username": "kubernetes-admin", "groups": []string{"system:masters", "system:authenticated"}},
		"object":   orNull(r.Object), "oldObject": orNull(r.Old), "dryRun": false, "options": nil,
	}
	if ns := cmp.Or(o.GetNamespace(), ownNamespace(k, o)); ns != "" {
		request["namespace"] = ns
	}
	return request, nil
}

// ownNamespace returns the name of a Namespace object, or "" for other objects. In requests, a
// Namespace is in the namespace that it defines.
func ownNamespace(k kubeapi.Kind, o *unstructured.Unstructured) string {
	if k.Group == "" && k.Resource == "namespaces" {
		return o.GetName()
	}
	return ""
}

// matchRules returns an error if no rule of a webhook matches an operation on a kind.
func matchRules(a config.Admission, operation string, k kubeapi.Kind) error {
	matchesVersion := func(version string) func(config.Requests) bool {
		return func(rule config.Requests) bool {
			return contains(rule.Operations, operation) && contains(rule.APIGroups, k.Group) && contains(rule.APIVersions, version) &&
				inScope(rule.Scope, k) &&
				slices.ContainsFunc(rule.Resources, func(resource string) bool { return matchesResource(resource, k.Resource) })
		}
	}
	if slices.ContainsFunc(a.Rules, matchesVersion(k.Version)) {
		return nil
	}
	for _, version := range k.Versions {
		if slices.ContainsFunc(a.Rules, matchesVersion(version)) { // matchPolicy is Equivalent
			return notRun("the API server converts %s to version %s for %s: provide the object in that version", k.Resource, version, a.Name)
		}
	}
	return notRun("no rule of %s matches %s of %s", a.Name, operation, k.APIVersion()+"/"+k.Resource)
}

// matchesResource reports whether a resource in a rule matches requests for objects. pods/*
// matches both pods and their subresources.
func matchesResource(rule, resource string) bool {
	name, subresource, _ := strings.Cut(rule, "/")
	return (name == "*" || name == resource) && (subresource == "" || subresource == "*")
}

// matchLabels reports whether the labelSelector of a webhook matches the new or the old object.
func matchLabels(a config.Admission, r Request) (bool, error) {
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

// webhookMismatch returns the reason why a webhook does not select the namespace of an object, or
// "". The namespace of a Namespace is the object itself. Other cluster-scoped objects always
// match.
func (c Cluster) webhookMismatch(a config.Admission, k kubeapi.Kind, o *unstructured.Unstructured) (string, error) {
	switch {
	case a.Namespace == nil || o.GetNamespace() == "" && ownNamespace(k, o) == "":
		return "", nil
	case o.GetNamespace() != "":
		return c.namespaceMismatch(a.Namespace, o)
	}
	if ok, err := matches(a.Namespace.LabelSelector, o); err != nil || ok {
		return "", err
	}
	return "its namespace selector does not match the labels of the object", nil
}

// contains reports whether a list has a value or the wildcard *.
func contains(list []string, value string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, value)
}

// inScope reports whether the scope of a rule includes a kind.
func inScope(scope string, k kubeapi.Kind) bool {
	switch scope {
	case "Cluster":
		return !k.Namespaced
	case "Namespaced":
		return k.Namespaced
	}
	return true
}

// orNull returns an object, or an untyped nil.
func orNull(o *unstructured.Unstructured) any {
	if o == nil {
		return nil
	}
	return o
}
