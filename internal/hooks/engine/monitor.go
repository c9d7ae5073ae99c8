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

// monitor is what the engine knows of the objects of a binding.
type monitor struct {
	hook  *hookState
	place int
	view  binding.View
	items map[string]binding.Item // by binding.ID
	// Until the synchronization is done events wait here; those from before a
	// snapshot are forgotten, for they are in it.
	open    bool
	waiting []waiting
}

// waiting is an event behind a synchronization, which comes in the order of the
// engine's informers: one for each namespace and name that the binding selects.
type waiting struct {
	event    event
	informer [2]int
}

func (m *monitor) binding() config.Kubernetes { return m.hook.Config.Kubernetes[m.place] }

// BindingListed tells what there is for a binding when it begins to be observed. With an
// error the engine does not begin: the task fails.
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
	if err := m.learn(objects); err != nil {
		return err
	}
	h.monitors[b.Place] = m
	return nil
}

// NamespaceSelected tells about objects of a namespace that begins to be selected by its
// labels: they are in snapshots from now on, and no event tells of them.
func (s *State) NamespaceSelected(b Ref, objects []*unstructured.Unstructured) error {
	if m := s.hook(b.Hook).monitors[b.Place]; m != nil {
		return m.learn(objects)
	}
	return nil
}

// NamespaceUnselected tells that a namespace is not selected any more by its labels: its
// objects leave the snapshots, and no event tells of them.
func (s *State) NamespaceUnselected(b Ref, namespace string) {
	if m := s.hook(b.Hook).monitors[b.Place]; m != nil {
		maps.DeleteFunc(m.items, func(id string, _ binding.Item) bool { return strings.HasPrefix(id, namespace+"/") })
	}
}

func (m *monitor) learn(objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		item, err := m.view.Show(o)
		if err != nil {
			return err
		}
		m.items[binding.ID(o)] = item
	}
	return nil
}

// ObjectChanged tells that an object which a binding selects was Added, Modified or
// Deleted. An error is one of the filter, for which the engine drops the event.
func (s *State) ObjectChanged(b Ref, watch string, o *unstructured.Unstructured) error {
	m := s.hook(b.Hook).monitors[b.Place]
	if m == nil {
		return nil // it is not enabled yet, and will be synchronized
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
		s.happened(m, e)
		return nil
	}
	m.waiting = append(m.waiting, waiting{e, informer(k, o)})
	return nil
}

// informer tells which of the engine's informers brings an object.
func informer(k config.Kubernetes, o *unstructured.Unstructured) (order [2]int) {
	if n := k.Namespace; n != nil && n.NameSelector != nil {
		order[0] = slices.Index(n.NameSelector.MatchNames, o.GetNamespace())
	}
	if k.NameSelector != nil {
		order[1] = slices.Index(k.NameSelector.MatchNames, o.GetName())
	}
	return order
}

func (s *State) happened(m *monitor, e event) {
	k := m.binding()
	s.queue(k.QueueName()).add(&task{of: runs, hook: m.hook, group: k.Group, allow: k.AllowFailure, events: []event{e}})
}

// unlock lets events through that waited for a synchronization.
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
			s.happened(m, w.event)
		}
		m.waiting = nil
	}
}

// snapshot is what the binding has, and forgets what waits behind the
// synchronization, for it shows that too.
func (m *monitor) snapshot() []binding.Item {
	if m == nil {
		return nil
	}
	if !m.open {
		m.waiting = nil
	}
	return binding.Sorted(slices.Collect(maps.Values(m.items)))
}

// synchronizations are the tasks that follow when the bindings of a hook are
// enabled, all in the queue main.
func (h *hookState) synchronizations() []*task {
	var tasks []*task
	for i, k := range h.Config.Kubernetes {
		tasks = append(tasks, &task{of: runs, hook: h, group: k.Group, allow: k.AllowFailure, silent: !k.Synchronizes(),
			unlocks: []*monitor{h.monitors[i]}, events: []event{{of: atSynchronization, place: i, group: k.Group}}})
	}
	return tasks
}
