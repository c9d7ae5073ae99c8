package binding

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/config"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// NotRunError is the reason why the engine does not run a hook for an event.
type NotRunError struct{ Reason string }

func (e *NotRunError) Error() string { return e.Reason }

func notRun(format string, args ...any) error { return &NotRunError{fmt.Sprintf(format, args...)} }

// contexts returns the Contexts of a hook for the objects in the cluster.
func (c Cluster) contexts(conf *config.Config) Contexts {
	return Contexts{conf, func(index int) ([]Item, error) { return c.items(conf.Kubernetes[index]) }}
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

// Synchronization returns the start-up context with all objects of a binding.
func (c Cluster) Synchronization(conf *config.Config, k config.Kubernetes) (Context, error) {
	switch {
	case conf.Version == "v0":
		return nil, notRun("a configuration without configVersion has no synchronization")
	case !k.Synchronizes():
		return nil, notRun("%s has executeHookOnSynchronization: false", k.BindingName())
	}
	return c.contexts(conf).Synchronization(bindingIndex(conf, k))
}

// bindingIndex returns the index of the first binding with the same name in the configuration.
func bindingIndex(conf *config.Config, k config.Kubernetes) int {
	return slices.IndexFunc(conf.Kubernetes, func(other config.Kubernetes) bool { return other.BindingName() == k.BindingName() })
}

// Event returns the context of an Added, Modified or Deleted event. The cluster has the state
// after the event. old is the object before a modification, or nil if unknown.
func (c Cluster) Event(conf *config.Config, k config.Kubernetes, event string, o, old *unstructured.Unstructured) (Context, error) {
	if !slices.Contains(k.Events(), event) {
		return nil, notRun("%s runs the hook for %s", k.BindingName(), orNoEvent(k.Events()))
	}
	reason, err := c.mismatch(c.Kinds(), k, o)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return nil, notRun("%s does not watch %s: %s", k.BindingName(), objectName(o), reason)
	}
	if conf.Version == "v0" {
		return nil, notRun("it panics when it creates the context of an event for a configuration without configVersion, " +
			"and then blocks the queue main: add configVersion: v1")
	}
	view, err := NewView(k)
	if err != nil {
		return nil, err
	}
	item, err := view.Item(o)
	if err != nil {
		return nil, err
	}
	if event == "Modified" && old != nil {
		before, err := view.Item(old)
		if err != nil {
			return nil, err
		}
		if item.Same(before) {
			return nil, notRun("%s watches no field of %s that changes", k.BindingName(), objectName(o))
		}
	}
	return c.contexts(conf).Event(bindingIndex(conf, k), event, item)
}

// SameVersion reports whether two versions are equal. It compares groups only if both versions
// have one.
func SameVersion(a, b string) bool {
	if strings.Contains(a, "/") == strings.Contains(b, "/") {
		return a == b
	}
	return a[strings.IndexByte(a, '/')+1:] == b[strings.IndexByte(b, '/')+1:]
}

// Conversion returns the context of a conversion request for one rule of a binding. The rule
// converts to the desired version, or to an intermediate version.
func (c Cluster) Conversion(
	conf *config.Config, v config.Conversion, from, to, desired string, objects []*unstructured.Unstructured,
) (Context, error) {
	if len(objects) > 0 && !strings.Contains(desired, "/") {
		desired = objects[0].GroupVersionKind().Group + "/" + desired
	}
	request := map[string]any{"uid": "00000000-0000-0000-0000-000000000000", "desiredAPIVersion": desired}
	return c.contexts(conf).Conversion(v, from, to, request, objects)
}

// orNoEvent returns events for messages.
func orNoEvent(events []string) string {
	if len(events) == 0 {
		return "no event"
	}
	return strings.Join(events, ", ")
}
