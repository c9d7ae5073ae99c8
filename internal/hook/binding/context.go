package binding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	"github.com/operon-dev/operon/internal/hook/config"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Context is what the engine tells a hook about one event, to be written as an
// item of a JSON list.
type Context map[string]any

// NotRunError says why the engine does not run a hook for an event.
type NotRunError struct{ Reason string }

func (e *NotRunError) Error() string { return e.Reason }

func notRun(format string, args ...any) error { return &NotRunError{fmt.Sprintf(format, args...)} }

// Startup is the context of the start.
func Startup() Context { return Context{"binding": "onStartup"} }

// Schedule is the context when the time of a schedule comes.
func (c Cluster) Schedule(conf *config.Config, s config.Schedule) (Context, error) {
	if conf.Version == "v0" {
		return Context{"binding": s.BindingName()}, nil
	}
	ctx, err := c.context(conf, s.BindingName(), s.Group, s.IncludeSnapshotsFrom)
	if err == nil && s.Group == "" {
		ctx["type"] = "Schedule"
	}
	return ctx, err
}

// Synchronization is the context with all objects, at the start.
func (c Cluster) Synchronization(conf *config.Config, k config.Kubernetes) (Context, error) {
	switch {
	case conf.Version == "v0":
		return nil, notRun("a configuration without configVersion knows no synchronization")
	case !k.Synchronizes():
		return nil, notRun("%s has executeHookOnSynchronization: false", k.BindingName())
	}
	ctx, err := c.context(conf, k.BindingName(), k.Group, k.IncludeSnapshotsFrom)
	if err != nil || k.Group != "" {
		return ctx, err
	}
	ctx["type"] = "Synchronization"
	ctx["objects"], err = c.snapshot(k)
	return ctx, err
}

// Event is the context when an object was Added, Modified or Deleted. The cluster
// is as it is afterwards; was is the object before it was modified, or nil when
// that is of no interest.
func (c Cluster) Event(conf *config.Config, k config.Kubernetes, event string, o, was *unstructured.Unstructured) (Context, error) {
	if !slices.Contains(k.Events(), event) {
		return nil, notRun("%s runs the hook for %s", k.BindingName(), orNothing(k.Events()))
	}
	reason, err := c.unselected(k, o)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return nil, notRun("%s does not watch %s: %s", k.BindingName(), name(o), reason)
	}
	now, err := show(k, o)
	if err != nil {
		return nil, err
	}
	if event == "Modified" && was != nil {
		before, err := show(k, was)
		if err != nil {
			return nil, err
		}
		if same(before, now) {
			return nil, notRun("%s sees no change: what it watches of %s is as it was", k.BindingName(), name(o))
		}
	}
	if conf.Version == "v0" {
		return legacy(k, event, o), nil
	}
	ctx, err := c.context(conf, k.BindingName(), k.Group, k.IncludeSnapshotsFrom)
	if err != nil || k.Group != "" {
		return ctx, err
	}
	ctx["type"], ctx["watchEvent"] = "Event", event
	maps.Copy(ctx, now.fields())
	return ctx, nil
}

func legacy(k config.Kubernetes, event string, o *unstructured.Unstructured) Context {
	names := map[string]string{"Added": "add", "Modified": "update", "Deleted": "delete"}
	return Context{"binding": k.BindingName(), "resourceEvent": names[event],
		"resourceNamespace": o.GetNamespace(), "resourceKind": o.GetKind(), "resourceName": o.GetName()}
}

// same reports whether the engine sees no difference: in the results of the
// filter, or without one in the objects.
func same(a, b item) bool {
	seen := func(i item) any {
		if i.filtered {
			return i.result
		}
		return i.object
	}
	x, errX := json.Marshal(seen(a))
	y, errY := json.Marshal(seen(b))
	return errX == nil && errY == nil && string(x) == string(y)
}

// Request is what the API server asks a webhook about.
type Request struct {
	Operation   string // CREATE, UPDATE, DELETE or CONNECT
	Object, Old *unstructured.Unstructured
}

// Admission is the context of a request to validate or to mutate.
func (c Cluster) Admission(conf *config.Config, a config.Admission, mutates bool, r Request) (Context, error) {
	o := r.Object
	if r.Operation == "DELETE" || o == nil {
		o = r.Old
	}
	gvk := o.GroupVersionKind()
	resource := flect.Pluralize(strings.ToLower(gvk.Kind))
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
	ctx, err := c.context(conf, a.Name, "", c.group(conf, a.Group, a.IncludeSnapshotsFrom))
	if err != nil {
		return nil, err
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
	ctx["type"], ctx["review"] = "Validating", map[string]any{"request": request}
	if mutates {
		ctx["type"] = "Mutating"
	}
	return ctx, nil
}

// Conversion is the context of a request to convert objects, by one of the rules
// of a binding.
func (c Cluster) Conversion(conf *config.Config, v config.Conversion, from, to string, objects []*unstructured.Unstructured) (Context, error) {
	ctx, err := c.context(conf, v.Name, "", c.group(conf, v.Group, v.IncludeSnapshotsFrom))
	if err != nil {
		return nil, err
	}
	desired := to
	if len(objects) > 0 && !strings.Contains(to, "/") {
		desired = objects[0].GroupVersionKind().Group + "/" + to
	}
	ctx["type"], ctx["fromVersion"], ctx["toVersion"] = "Conversion", from, to
	ctx["review"] = map[string]any{"request": map[string]any{
		"uid": "00000000-0000-0000-0000-000000000000", "desiredAPIVersion": desired, "objects": objects}}
	return ctx, nil
}

// context is what contexts of all kinds have: the binding, and its group or the
// snapshots that it asks for.
func (c Cluster) context(conf *config.Config, binding, group string, include []string) (Context, error) {
	ctx := Context{"binding": binding}
	if group != "" {
		ctx["type"], ctx["groupName"] = "Group", group
	}
	include = c.group(conf, group, include)
	if len(include) == 0 {
		return ctx, nil
	}
	snapshots := map[string]any{}
	for _, name := range include {
		i := slices.IndexFunc(conf.Kubernetes, func(k config.Kubernetes) bool { return k.BindingName() == name })
		items, err := c.snapshot(conf.Kubernetes[i])
		if err != nil {
			return nil, err
		}
		snapshots[name] = items
	}
	ctx["snapshots"] = snapshots
	return ctx, nil
}

// group adds the bindings of a group to the snapshots that a member asks for.
func (c Cluster) group(conf *config.Config, group string, include []string) []string {
	include = slices.Clone(include)
	if group == "" {
		return include
	}
	for _, k := range conf.Kubernetes {
		if k.Group == group && !slices.Contains(include, k.BindingName()) {
			include = append(include, k.BindingName())
		}
	}
	return include
}

func (c Cluster) snapshot(k config.Kubernetes) ([]item, error) {
	items, err := c.items(k)
	if items == nil {
		items = []item{}
	}
	return items, err
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
