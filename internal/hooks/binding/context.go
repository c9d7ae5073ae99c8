package binding

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/config"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// NotRunError has the reason why the engine does not run a hook for an event.
type NotRunError struct{ Reason string }

func (e *NotRunError) Error() string { return e.Reason }

func notRun(format string, args ...any) error { return &NotRunError{fmt.Sprintf(format, args...)} }

// contexts returns the Contexts of a hook for the current state of the cluster.
func (c Cluster) contexts(conf *config.Config) Contexts {
	return Contexts{conf, func(place int) ([]Item, error) { return c.items(conf.Kubernetes[place]) }}
}

// Schedule returns the context of a schedule.
func (c Cluster) Schedule(conf *config.Config, s config.Schedule) (Context, error) {
	return c.contexts(conf).Schedule(s)
}

// Step returns the context of a module step of addon-operator, such as beforeHelm.
func (c Cluster) Step(conf *config.Config, name string) (Context, error) {
	if _, bound := conf.Steps[name]; !bound {
		return nil, notRun("it has no %s", name)
	}
	return c.contexts(conf).Step(name)
}

// Synchronization returns the context with all objects at startup.
func (c Cluster) Synchronization(conf *config.Config, k config.Kubernetes) (Context, error) {
	switch {
	case conf.Version == "v0":
		return nil, notRun("a configuration without configVersion knows no synchronization")
	case !k.Synchronizes():
		return nil, notRun("%s has executeHookOnSynchronization: false", k.BindingName())
	}
	return c.contexts(conf).Synchronization(place(conf, k))
}

// place returns the index of the first binding with the same name in the configuration.
func place(conf *config.Config, k config.Kubernetes) int {
	return slices.IndexFunc(conf.Kubernetes, func(other config.Kubernetes) bool { return other.BindingName() == k.BindingName() })
}

// Event returns the context of an Added, Modified or Deleted event. The cluster has the
// state after the event. was is the object before a modification, or nil if unknown.
func (c Cluster) Event(conf *config.Config, k config.Kubernetes, event string, o, was *unstructured.Unstructured) (Context, error) {
	if !slices.Contains(k.Events(), event) {
		return nil, notRun("%s runs the hook for %s", k.BindingName(), orNothing(k.Events()))
	}
	reason, err := c.unselected(c.Kinds(), k, o)
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

// SameVersion reports whether two versions are equal. It compares groups only if both
// have one.
func SameVersion(a, b string) bool {
	if strings.Contains(a, "/") == strings.Contains(b, "/") {
		return a == b
	}
	return a[strings.IndexByte(a, '/')+1:] == b[strings.IndexByte(b, '/')+1:]
}

// Conversion returns the context of a conversion request for one rule of a binding. The
// rule converts to the desired version or to an intermediate version.
func (c Cluster) Conversion(conf *config.Config, v config.Conversion, from, to, desired string, objects []*unstructured.Unstructured) (Context, error) {
	if len(objects) > 0 && !strings.Contains(desired, "/") {
		desired = objects[0].GroupVersionKind().Group + "/" + desired
	}
	request := map[string]any{"uid": "00000000-0000-0000-0000-000000000000", "desiredAPIVersion": desired}
	return c.contexts(conf).Conversion(v, from, to, request, objects)
}

func orNothing(events []string) string {
	if len(events) == 0 {
		return "no event"
	}
	return strings.Join(events, ", ")
}
