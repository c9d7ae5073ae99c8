package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// monitor tracks the objects of a kubernetes binding.
type monitor struct {
	hook  *hookState
	index int // of the binding in the configuration
	view  binding.View
	items map[string]binding.Item // by binding.ID
	// Events are delayed until the synchronization has run. A snapshot discards the delayed
	// events, because it includes their objects.
	synchronized bool
	delayed      []delayedEvent
}

// delayedEvent is an event that waits for the synchronization. The engine has one informer for
// each selected namespace and name, and delivers delayed events in the order of informers.
type delayedEvent struct {
	event    event
	informer [2]int
}

func (m *monitor) binding() config.Kubernetes { return m.hook.Config.Kubernetes[m.index] }

// BindingListed starts to track a binding with its current objects. The error is an error of the
// filter; in that case, the task fails.
func (s *State) BindingListed(b Ref, objects []*unstructured.Unstructured) error {
	h := s.hook(b.Hook)
	if h.monitors[b.Index] != nil {
		return nil
	}
	view, err := binding.NewView(h.Config.Kubernetes[b.Index])
	if err != nil {
		return err
	}
	m := &monitor{hook: h, index: b.Index, view: view, items: map[string]binding.Item{}}
	if err := m.addObjects(objects); err != nil {
		return err
	}
	h.monitors[b.Index] = m
	return nil
}

// NamespaceSelected adds the objects of a namespace whose labels start to match the binding.
// Snapshots now include the objects, but the objects cause no events.
func (s *State) NamespaceSelected(b Ref, objects []*unstructured.Unstructured) error {
	if m := s.hook(b.Hook).monitors[b.Index]; m != nil {
		return m.addObjects(objects)
	}
	return nil
}

// NamespaceUnselected removes the objects of a namespace whose labels no longer match the
// binding. Snapshots no longer include the objects, but the removal causes no events.
func (s *State) NamespaceUnselected(b Ref, namespace string) {
	if m := s.hook(b.Hook).monitors[b.Index]; m != nil {
		maps.DeleteFunc(m.items, func(id string, _ binding.Item) bool { return strings.HasPrefix(id, namespace+"/") })
	}
}

func (m *monitor) addObjects(objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		item, err := m.view.Item(o)
		if err != nil {
			return err
		}
		m.items[binding.ID(o)] = item
	}
	return nil
}

// ObjectChanged handles an Added, Modified or Deleted event of a selected object. The error is an
// error of the filter; in that case, the engine drops the event.
func (s *State) ObjectChanged(b Ref, watchEvent string, o *unstructured.Unstructured) error {
	m := s.hook(b.Hook).monitors[b.Index]
	if m == nil {
		return nil // not enabled yet; the synchronization will include the object
	}
	item, err := m.view.Item(o)
	if err != nil {
		return fmt.Errorf("the engine drops the %s event: %w", watchEvent, err)
	}
	id := binding.ID(o)
	if watchEvent == "Deleted" {
		delete(m.items, id)
	} else {
		before, known := m.items[id]
		m.items[id] = item
		if known && before.Same(item) {
			return nil
		}
	}
	k := m.binding()
	if !slices.Contains(k.Events(), watchEvent) {
		return nil
	}
	e := event{origin: fromEvent, index: m.index, group: k.Group, watchEvent: watchEvent, item: item}
	if m.synchronized {
		s.enqueueEvent(m, e)
		return nil
	}
	m.delayed = append(m.delayed, delayedEvent{e, informer(k, o)})
	return nil
}

// informer returns the position of the engine's informer for an object: the indices of its
// namespace and of its name in the selectors.
func informer(k config.Kubernetes, o *unstructured.Unstructured) (order [2]int) {
	if n := k.Namespace; n != nil && n.NameSelector != nil {
		order[0] = slices.Index(n.NameSelector.MatchNames, o.GetNamespace())
	}
	if k.NameSelector != nil {
		order[1] = slices.Index(k.NameSelector.MatchNames, o.GetName())
	}
	return order
}

func (s *State) enqueueEvent(m *monitor, e event) {
	k := m.binding()
	s.queue(k.QueueName()).add(&task{kind: runHook, hook: m.hook, group: k.Group, allowFailure: k.AllowFailure, events: []event{e}})
}

// deliver adds the delayed events of monitors to the queues after the synchronization.
func (s *State) deliver(monitors []*monitor) {
	for _, m := range monitors {
		if m.synchronized {
			continue
		}
		m.synchronized = true
		slices.SortStableFunc(m.delayed, func(a, b delayedEvent) int {
			return cmp.Or(cmp.Compare(a.informer[0], b.informer[0]), cmp.Compare(a.informer[1], b.informer[1]))
		})
		for _, d := range m.delayed {
			s.enqueueEvent(m, d.event)
		}
		m.delayed = nil
	}
}

// snapshot returns the objects of the binding. Before the synchronization, it discards the
// delayed events, because the snapshot includes their objects.
func (m *monitor) snapshot() []binding.Item {
	if m == nil {
		return nil
	}
	if !m.synchronized {
		m.delayed = nil
	}
	return binding.Sorted(slices.Collect(maps.Values(m.items)))
}

// synchronizations returns the synchronization tasks for the bindings of a hook. They run in the
// queue main.
func (h *hookState) synchronizations() []*task {
	var tasks []*task
	for i, k := range h.Config.Kubernetes {
		tasks = append(tasks, &task{kind: runHook, hook: h, group: k.Group, allowFailure: k.AllowFailure, skipHook: !k.Synchronizes(),
			monitors: []*monitor{h.monitors[i]}, events: []event{{origin: fromSynchronization, index: i, group: k.Group}}})
	}
	return tasks
}
