package binding

import (
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/config"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Context is what the engine tells a hook about one event, to be written as an
// item of a JSON list.
type Context map[string]any

// Startup is the context of the start.
func Startup() Context { return Context{"binding": "onStartup"} }

// Contexts makes those of one hook. It asks for nothing but what a context
// shows: who makes them knows whether the hook is run at all.
type Contexts struct {
	Config *config.Config
	// Snapshot is what the kubernetes binding at that place in the configuration
	// has, in the order of Sorted.
	Snapshot func(place int) ([]Item, error)
}

// Step is the context of a step of addon-operator's work, such as beforeHelm. It
// has the snapshots of all kubernetes bindings, whatever these ask for.
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

// Schedule is the context when the time of a schedule comes.
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
	if err != nil || c.grouped(ctx, s.Group) {
		return ctx, err
	}
	ctx["type"] = "Schedule"
	return ctx, nil
}

// Synchronization is the context with all objects of a binding.
func (c Contexts) Synchronization(place int) (Context, error) {
	k := c.Config.Kubernetes[place]
	ctx, err := c.kubernetes(k)
	if err != nil || c.grouped(ctx, k.Group) {
		return ctx, err
	}
	ctx["type"] = "Synchronization"
	ctx["objects"], err = c.snapshot(k.BindingName())
	return ctx, err
}

// Event is the context when an object was Added, Modified or Deleted; i is what
// the binding shows of it.
func (c Contexts) Event(place int, event string, i Item) (Context, error) {
	k := c.Config.Kubernetes[place]
	ctx, err := c.kubernetes(k)
	if err != nil || c.grouped(ctx, k.Group) {
		return ctx, err
	}
	ctx["type"], ctx["watchEvent"] = "Event", event
	maps.Copy(ctx, i.fields())
	return ctx, nil
}

// Review is the context of a request to validate or to mutate an object.
func (c Contexts) Review(a config.Admission, mutates bool, request map[string]any) (Context, error) {
	include := c.includes(a.Group, a.IncludeSnapshotsFrom)
	ctx, err := c.context(a.Name, include, func() []string { return include })
	if err != nil {
		return nil, err
	}
	ctx["type"], ctx["review"] = "Validating", map[string]any{"request": request}
	if mutates {
		ctx["type"] = "Mutating"
	}
	return ctx, nil
}

// Conversion is the context of a request to convert objects by one rule of a
// binding. The request is that of the API server, but for its objects.
func (c Contexts) Conversion(v config.Conversion, from, to string, request map[string]any, objects []*unstructured.Unstructured) (Context, error) {
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

// context is what contexts of all kinds have. Whether there are snapshots, the
// binding decides; which, the first one of its name and kind.
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

// grouped makes the context one of a group, which tells nothing of the event.
func (c Contexts) grouped(ctx Context, group string) bool {
	if group == "" {
		return false
	}
	ctx["type"], ctx["groupName"] = "Group", group
	return true
}

// includes adds the bindings of a group to the snapshots that a member asks for.
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

// snapshot is that of the first binding of the name.
func (c Contexts) snapshot(name string) ([]Item, error) {
	i := slices.IndexFunc(c.Config.Kubernetes, func(k config.Kubernetes) bool { return k.BindingName() == name })
	items, err := c.Snapshot(i)
	if items == nil {
		items = []Item{}
	}
	return items, err
}
