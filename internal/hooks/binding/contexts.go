package binding

import (
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/config"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Context is the binding context of one event: an item of the JSON list that a hook reads.
type Context map[string]any

// Startup returns the context of onStartup.
func Startup() Context { return Context{"binding": "onStartup"} }

// Contexts creates the contexts of one hook. It does not check whether the engine runs
// the hook.
type Contexts struct {
	Config *config.Config
	// Snapshot returns the objects of the kubernetes binding at an index of the configuration,
	// in the order of Sorted.
	Snapshot func(index int) ([]Item, error)
}

// Step returns the context of a module step of addon-operator, such as beforeHelm. It has
// the snapshots of all kubernetes bindings.
func (c Contexts) Step(name string) (Context, error) {
	ctx := Context{"binding": name}
	if c.Config.Version == "v0" {
		return ctx, nil
	}
	snapshots := map[string]any{}
	for _, k := range c.Config.Kubernetes {
		items, err := c.snapshot(k.BindingName())
		if err != nil {
			return nil, err
		}
		snapshots[k.BindingName()] = items
	}
	ctx["snapshots"] = snapshots
	return ctx, nil
}

// Schedule returns the context of a schedule.
func (c Contexts) Schedule(s config.Schedule) (Context, error) {
	if c.Config.Version == "v0" {
		return Context{"binding": s.BindingName()}, nil
	}
	ctx, err := c.context(s.BindingName(), c.includes(s.Group, s.IncludeSnapshotsFrom), func() []string {
		for _, other := range c.Config.Schedule {
			if other.BindingName() == s.BindingName() {
				return c.includes(other.Group, other.IncludeSnapshotsFrom)
			}
		}
		return nil
	})
	if err != nil || c.toGroup(ctx, s.Group) {
		return ctx, err
	}
	ctx["type"] = "Schedule"
	return ctx, nil
}

// Synchronization returns the context with all objects of a binding.
func (c Contexts) Synchronization(index int) (Context, error) {
	k := c.Config.Kubernetes[index]
	ctx, err := c.kubernetes(k)
	if err != nil || c.toGroup(ctx, k.Group) {
		return ctx, err
	}
	ctx["type"] = "Synchronization"
	ctx["objects"], err = c.snapshot(k.BindingName())
	return ctx, err
}

// Event returns the context of an Added, Modified or Deleted event for an item.
func (c Contexts) Event(index int, event string, item Item) (Context, error) {
	k := c.Config.Kubernetes[index]
	ctx, err := c.kubernetes(k)
	if err != nil || c.toGroup(ctx, k.Group) {
		return ctx, err
	}
	ctx["type"], ctx["watchEvent"] = "Event", event
	maps.Copy(ctx, item.fields())
	return ctx, nil
}

// Admission returns the context of an admission request.
func (c Contexts) Admission(a config.Admission, mutating bool, request map[string]any) (Context, error) {
	include := c.includes(a.Group, a.IncludeSnapshotsFrom)
	ctx, err := c.context(a.Name, include, func() []string { return include })
	if err != nil {
		return nil, err
	}
	ctx["type"], ctx["review"] = "Validating", map[string]any{"request": request}
	if mutating {
		ctx["type"] = "Mutating"
	}
	return ctx, nil
}

// Conversion returns the context of a conversion request for one rule of a binding. objects
// replace the objects of the request.
func (c Contexts) Conversion(
	v config.Conversion, from, to string, request map[string]any, objects []*unstructured.Unstructured,
) (Context, error) {
	include := c.includes(v.Group, v.IncludeSnapshotsFrom)
	ctx, err := c.context(v.Name, include, func() []string { return include })
	if err != nil {
		return nil, err
	}
	request = maps.Clone(request)
	request["objects"] = objects
	ctx["type"], ctx["fromVersion"], ctx["toVersion"] = "Conversion", from, to
	ctx["review"] = map[string]any{"request": request}
	return ctx, nil
}

func (c Contexts) kubernetes(k config.Kubernetes) (Context, error) {
	return c.context(k.BindingName(), c.includes(k.Group, k.IncludeSnapshotsFrom), func() []string {
		for _, other := range c.Config.Kubernetes {
			if other.BindingName() == k.BindingName() {
				return c.includes(other.Group, other.IncludeSnapshotsFrom)
			}
		}
		return nil
	})
}

// context returns a context with its common fields. It has snapshots if include is not empty.
// Like the engine, context uses the snapshots of the first binding of the same name and type.
func (c Contexts) context(binding string, include []string, first func() []string) (Context, error) {
	ctx := Context{"binding": binding}
	if len(include) == 0 {
		return ctx, nil
	}
	snapshots := map[string]any{}
	for _, name := range first() {
		items, err := c.snapshot(name)
		if err != nil {
			return nil, err
		}
		snapshots[name] = items
	}
	ctx["snapshots"] = snapshots
	return ctx, nil
}

// toGroup converts the context of a binding with a group to a group context, which has no event
// data. It reports whether the binding has a group.
func (c Contexts) toGroup(ctx Context, group string) bool {
	if group == "" {
		return false
	}
	ctx["type"], ctx["groupName"] = "Group", group
	return true
}

// includes returns the names of the snapshots that a binding includes: those in its
// configuration, and of its group.
func (c Contexts) includes(group string, include []string) []string {
	include = slices.Clone(include)
	if group == "" {
		return include
	}
	for _, k := range c.Config.Kubernetes {
		if k.Group == group && !slices.Contains(include, k.BindingName()) {
			include = append(include, k.BindingName())
		}
	}
	return include
}

// snapshot returns the snapshot of the first binding with a name.
func (c Contexts) snapshot(name string) ([]Item, error) {
	i := slices.IndexFunc(c.Config.Kubernetes, func(k config.Kubernetes) bool { return k.BindingName() == name })
	items, err := c.Snapshot(i)
	if items == nil {
		items = []Item{}
	}
	return items, err
}
