package event

import (
	"slices"

	"github.com/operon-dev/operon/internal/hooks/config"
)

// The functions in this file complete flags. They get a configuration that was read from
// the text of a script, for hooks may be slow to start; nil means that nothing is known.

// TypesFor returns the types of events that a hook runs for.
func TypesFor(c *config.Config) []string {
	if c == nil {
		return Types()
	}
	has := map[string]bool{"startup": c.OnStartup != nil}
	for _, event := range []string{"schedule", "validating", "mutating", "conversion"} {
		has[event] = len(BindingsFor(c, event)) > 0
	}
	for _, k := range c.Kubernetes {
		has["sync"] = has["sync"] || k.Synchronizes()
		for _, event := range k.Events() {
			has[event] = true
		}
	}
	for _, step := range c.StepNames() {
		has[config.Event(step)] = true
	}
	return slices.DeleteFunc(Types(), func(event string) bool { return !has[event] })
}

// BindingsFor returns the names of the bindings for a type of event, or of all bindings
// if it is empty.
func BindingsFor(c *config.Config, event string) []string {
	if c == nil {
		return nil
	}
	var names []string
	add := func(name string, events ...string) {
		if (event == "" || slices.Contains(events, event)) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, k := range c.Kubernetes {
		add(k.BindingName(), "sync", "Added", "Modified", "Deleted")
	}
	for _, s := range c.Schedule {
		add(s.BindingName(), "schedule")
	}
	for _, w := range c.Validating {
		add(w.Name, "validating")
	}
	for _, w := range c.Mutating {
		add(w.Name, "mutating")
	}
	for _, v := range c.Conversion {
		add(v.Name, "conversion")
	}
	return names
}

// VersionsFor returns the versions that a binding converts from and to. Without a binding
// it returns those of all bindings.
func VersionsFor(c *config.Config, binding string) (from, to []string) {
	if c == nil {
		return nil, nil
	}
	for _, v := range c.Conversion {
		if binding != "" && binding != v.Name {
			continue
		}
		for _, r := range v.Conversions {
			from, to = append(from, r.FromVersion), append(to, r.ToVersion)
		}
	}
	slices.Sort(from)
	slices.Sort(to)
	return slices.Compact(from), slices.Compact(to)
}
