package event

import (
	"slices"

	"github.com/operon-dev/operon/internal/hooks/config"
)

// The functions in this file complete flags. Their configuration comes from the text of a
// script, because running the hook may be slow. nil means that the configuration is unknown.

// TypesFor returns the types of events for which a hook runs.
func TypesFor(c *config.Config) []string {
	if c == nil {
		return Types()
	}
	handled := map[string]bool{"startup": c.OnStartup != nil}
	for _, event := range []string{"schedule", "validating", "mutating", "conversion"} {
		handled[event] = len(BindingsFor(c, event)) > 0
	}
	for _, k := range c.Kubernetes {
		handled["sync"] = handled["sync"] || k.Synchronizes()
		for _, event := range k.Events() {
			handled[event] = true
		}
	}
	for _, step := range c.StepNames() {
		handled[config.CommandLineName(step)] = true
	}
	return slices.DeleteFunc(Types(), func(event string) bool { return !handled[event] })
}

// BindingsFor returns the names of the bindings for a type of event. An empty type selects all
// bindings.
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

// VersionsFor returns the versions that a binding converts from and to. An empty name selects
// all bindings.
func VersionsFor(c *config.Config, binding string) (from, to []string) {
	if c == nil {
		return from, to
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
