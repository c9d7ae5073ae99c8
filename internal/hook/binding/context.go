package binding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hook/config"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// NotRunError says why the engine does not run a hook for an event.
type NotRunError struct{ Reason string }

func (e *NotRunError) Error() string { return e.Reason }

func notRun(format string, args ...any) error { return &NotRunError{fmt.Sprintf(format, args...)} }

// contexts makes those of a hook when the cluster is as it is.
func (c Cluster) contexts(conf *config.Config) Contexts {
	return Contexts{conf, func(place int) ([]Item, error) { return c.items(conf.Kubernetes[place]) }}
}

// Schedule is the context when the time of a schedule comes.
func (c Cluster) Schedule(conf *config.Config, s config.Schedule) (Context, error) {
	return c.contexts(conf).Schedule(s)
}

// Step is the context of a step of addon-operator's work, such as beforeHelm.
func (c Cluster) Step(conf *config.Config, name string) (Context, error) {
	if _, bound := conf.Steps[name]; !bound {
		return nil, notRun("it has no %s", name)
	}
	return c.contexts(conf).Step(name)
}

// Synchronization is the context with all objects, at the start.
func (c Cluster) Synchronization(conf *config.Config, k config.Kubernetes) (Context, error) {
	switch {
	case conf.Version == "v0":
		return nil, notRun("a configuration without configVersion knows no synchronization")
	case !k.Synchronizes():
		return nil, notRun("%s has executeHookOnSynchronization: false", k.BindingName())
	}
	return c.contexts(conf).Synchronization(place(conf, k))
}

// place is where a binding stands in its configuration: the first of its name.
func place(conf *config.Config, k config.Kubernetes) int {
	return slices.IndexFunc(conf.Kubernetes, func(other config.Kubernetes) bool { return other.BindingName() == k.BindingName() })
}

// Event is the context when an object was Added, Modified or Deleted. The cluster
// is as it is afterwards; was is the object before it was modified, or nil when
// that is of no interest.
func (c Cluster) Event(conf *config.Config, k config.Kubernetes, event string, o, was *unstructured.Unstructured) (Context, error) {
	if !slices.Contains(k.Events(), event) {
		return nil, notRun("%s runs the hook for %s", k.BindingName(), orNothing(k.Events()))
	}
	reason, err := c.unselected(c.kinds(), k, o)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return nil, notRun("%s does not watch %s: %s", k.BindingName(), name(o), reason)
	}
	if conf.Version == "v0" {
		return nil, notRun("it breaks off with a panic when it makes the context of an event for a configuration without configVersion, " +
			"and nothing behind that in the queue main is done: add configVersion: v1")
	}
	view, err := NewView(k)
	if err != nil {
		return nil, err
	}
	now, err := view.Show(o)
	if err != nil {
		return nil, err
	}
	if event == "Modified" && was != nil {
		before, err := view.Show(was)
		if err != nil {
			return nil, err
		}
		if now.Same(before) {
			return nil, notRun("%s sees no change: what it watches of %s is as it was", k.BindingName(), name(o))
		}
	}
	return c.contexts(conf).Event(place(conf, k), event, now)
}

// Request is what the API server asks a webhook about.
type Request struct {
	Operation   string // CREATE, UPDATE, DELETE or CONNECT
	Object, Old *unstructured.Unstructured
}

// Admission is the context of a request to validate or to mutate.
func (c Cluster) Admission(conf *config.Config, a config.Admission, mutates bool, r Request) (Context, error) {
	request, err := c.Request(a, r)
	if err != nil {
		return nil, err
	}
	return c.contexts(conf).Review(a, mutates, request)
}

// Request is what the API server sends to a webhook, if it does.
func (c Cluster) Request(a config.Admission, r Request) (map[string]any, error) {
	o := r.Object
	if r.Operation == "DELETE" || o == nil {
		o = r.Old
	}
	gvk := o.GroupVersionKind()
	known, err := c.kinds().FindObject(gvk)
	if err != nil {
		return nil, notRun("its rules name resources, and which one this is does nobody know: %v", err)
	}
	resource := known.Resource
	called := slices.ContainsFunc(a.Rules, func(rule config.Requests) bool {
		return has(rule.Operations, r.Operation) && has(rule.APIGroups, gvk.Group) && has(rule.APIVersions, gvk.Version) &&
			(has(rule.Resources, resource) || slices.Contains(rule.Resources, "*/*")) && inScope(rule.Scope, o)
	})
	if !called {
		return nil, notRun("no rule of %s is about %s of %s", a.Name, r.Operation, strings.TrimPrefix(gvk.GroupVersion().String()+"/"+resource, "/"))
	}
	if ok, err := matches(a.LabelSelector, o); err != nil || !ok {
		return nil, cmp.Or(err, notRun("the labelSelector of %s does not match %s", a.Name, name(o)))
	}
	if reason, err := c.outside(a.Namespace, o); err != nil || reason != "" && o.GetNamespace() != "" {
		return nil, cmp.Or(err, notRun("%s is not called for %s: %s", a.Name, name(o), reason))
	}
	kind := map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}
	of := map[string]any{"group": gvk.Group, "version": gvk.Version, "resource": resource}
	request := map[string]any{
		"uid": "00000000-0000-0000-0000-000000000000", "kind": kind, "resource": of, "requestKind": kind, "requestResource": of,
		"name": o.GetName(), "operation": r.Operation, "userInfo": map[string]any{"username": "kubernetes-admin", "groups": []string{"system:masters", "system:authenticated"}},
		"object": null(r.Object), "oldObject": null(r.Old), "dryRun": false, "options": nil,
	}
	if r.Operation == "DELETE" {
		request["object"] = nil
	}
	if o.GetNamespace() != "" {
		request["namespace"] = o.GetNamespace()
	}
	return request, nil
}

// Conversion is the context of a request to convert objects, by one of the rules
// of a binding.
func (c Cluster) Conversion(conf *config.Config, v config.Conversion, from, to string, objects []*unstructured.Unstructured) (Context, error) {
	desired := to
	if len(objects) > 0 && !strings.Contains(to, "/") {
		desired = objects[0].GroupVersionKind().Group + "/" + to
	}
	request := map[string]any{"uid": "00000000-0000-0000-0000-000000000000", "desiredAPIVersion": desired}
	return c.contexts(conf).Conversion(v, from, to, request, objects)
}

func has(list []string, value string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, value)
}

func inScope(scope string, o *unstructured.Unstructured) bool {
	switch scope {
	case "Cluster":
		return o.GetNamespace() == ""
	case "Namespaced":
		return o.GetNamespace() != ""
	}
	return true
}

func null(o *unstructured.Unstructured) any {
	if o == nil {
		return nil
	}
	return o
}

func orNothing(events []string) string {
	if len(events) == 0 {
		return "no event"
	}
	return strings.Join(events, ", ")
}
