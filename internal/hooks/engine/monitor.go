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
	place int
	view  binding.View
	items map[string]binding.Item // keyed by binding.ID
	// Events wait here until the synchronization is done. A snapshot discards earlier
	// events, because it includes their objects.
	open    bool
	waiting []waiting
}

// waiting is an event that waits for the synchronization. The engine has one informer for
// each selected namespace and name, and delivers waiting events in informer order.
type waiting struct {
	event    event
	informer [2]int
}

func (m *monitor) binding() config.Kubernetes { return m.hook.Config.Kubernetes[m.place] }

// BindingListed starts to track a binding with its current objects. On an error the
// engine does not start either, and the task fails.
func (s *State) BindingListed(b Ref, objects []*unstructured.Unstructured) error {
	h := s.hook(b.Hook)
	if h.monitors[b.Place] != nil {
		return nil
	}
	view, err := binding.NewView(h.Config.Kubernetes[b.Place])
	if err != nil {
		return err
	}
	m := &monitor{hook: h, place: b.Place, view: view, items: map[string]binding.Item{}}
	if err := m.addObjects(objects); err != nil {
		return err
	}
	h.monitors[b.Place] = m
	return nil
}

// NamespaceSelected adds the objects of a namespace whose labels start to match the
// binding. Snapshots include them from now on, but they cause no event.
func (s *State) NamespaceSelected(b Ref, objects []*unstructured.Unstructured) error {
	if m := s.hook(b.Hook).monitors[b.Place]; m != nil {
		return m.addObjects(objects)
	}
	return nil
}

// NamespaceUnselected removes the objects of a namespace whose labels stop matching the
// binding. Snapshots no longer include them, but this causes no event.
func (s *State) NamespaceUnselected(b Ref, namespace string) {
	if m := s.hook(b.Hook).monitors[b.Place]; m != nil {
		maps.DeleteFunc(m.items, func(id string, _ binding.Item) bool { return strings.HasPrefix(id, namespace+"/") })
	}
}

func (m *monitor) addObjects(objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		item, err := m.view.Show(o)
		if err != nil {
			return err
		}
		m.items[binding.ID(o)] = item
	}
	return nil
}

// ObjectChanged handles a selected object that was Added, Modified or Deleted. The error
// is that of the filter; the engine then drops the event.
func (s *State) ObjectChanged(b Ref, watch string, o *unstructured.Unstructured) error {
	m := s.hook(b.Hook).monitors[b.Place]
	if m == nil {
		return nil // not enabled yet; the synchronization will include the object
	}
	item, err := m.view.Show(o)
	if err != nil {
		return fmt.Errorf("the engine drops the event %s: %w", watch, err)
	}
	id := binding.ID(o)
	if watch == "Deleted" {
		delete(m.items, id)
	} else {
		before, known := m.items[id]
		m.items[id] = item
		if known && before.Same(item) {
			return nil
		}
	}
	k := m.binding()
	if !slices.Contains(k.Events(), watch) {
		return nil
	}
	e := event{of: atEvent, place: m.place, group: k.Group, watch: watch, item: item}
	if m.open {
		s.enqueueEvent(m, e)
		return nil
	}
	m.waiting = append(m.waiting, waiting{e, informer(k, o)})
	return nil
}

// informer returns the position of the engine's informer for an object.
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
	s.queue(k.QueueName()).add(&task{of: runs, hook: m.hook, group: k.Group, allow: k.AllowFailure, events: []event{e}})
}

// unlock releases the events that waited for a synchronization.
func (s *State) unlock(monitors []*monitor) {
	for _, m := range monitors {
		if m.open {
			continue
		}
		m.open = true
		slices.SortStableFunc(m.waiting, func(a, b waiting) int {
			return cmp.Or(cmp.Compare(a.informer[0], b.informer[0]), cmp.Compare(a.informer[1], b.informer[1]))
		})
		for _, w := range m.waiting {
			s.enqueueEvent(m, w.event)
		}
		m.waiting = nil
	}
}

// snapshot returns the objects of the binding. Before the synchronization it discards the
// waiting events, because the snapshot includes their objects.
func (m *monitor) snapshot() []binding.Item {
	if m == nil {
		return nil
	}
	if !m.open {
		m.waiting = nil
	}
	return binding.Sorted(slices.Collect(maps.Values(m.items)))
}

// synchronizations returns the synchronization tasks for the bindings of a hook. They run
// in the queue main.
func (h *hookState) synchronizations() []*task {
	var tasks []*task
	for i, k := range h.Config.Kubernetes {
		tasks = append(tasks, &task{of: runs, hook: h, group: k.Group, allow: k.AllowFailure, silent: !k.Synchronizes(),
			unlocks: []*monitor{h.monitors[i]}, events: []event{{of: atSynchronization, place: i, group: k.Group}}})
	}
	return tasks
}
