package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/binding"
)

// State is the state of an engine: the objects of its bindings and its queues.
type State struct {
	hooks  []*hookState // ordered by path
	queues map[string]*queue
}

// hookState is the state of a hook.
type hookState struct {
	Hook
	monitors  []*monitor // one for each kubernetes binding; nil until it is enabled
	scheduled bool       // schedules are enabled
	gone      bool       // the hook was removed
}

// New returns the state of an engine before its start. The hooks must be ordered by path,
// as Discover returns them.
func New(hooks []Hook) *State {
	s := &State{queues: map[string]*queue{}}
	for _, h := range hooks {
		s.hooks = append(s.hooks, &hookState{Hook: h, monitors: make([]*monitor, len(h.Config.Kubernetes))})
	}
	return s
}

// Start adds the start-up tasks to the queue main: first the hooks with onStartup, in
// their order, then the bindings of each hook.
func (s *State) Start() {
	var startup []*hookState
	for _, h := range s.hooks {
		if h.Config.OnStartup != nil {
			startup = append(startup, h)
		}
	}
	slices.SortStableFunc(startup, func(a, b *hookState) int { return cmp.Compare(*a.Config.OnStartup, *b.Config.OnStartup) })
	for _, h := range startup {
		s.startup(h)
	}
	for _, h := range s.hooks {
		s.enable(h)
	}
}

// Queues returns the names of queues with tasks, first main, then the others by name.
func (s *State) Queues() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		if len(s.queues[name].tasks) > 0 && name != Main {
			names = append(names, name)
		}
	}
	if len(s.queue(Main).tasks) > 0 {
		names = slices.Insert(names, 0, Main)
	}
	return names
}

// Head returns the hook of the next task in a queue, or nil. Callers use it to limit how
// often a hook runs, before Take combines its tasks.
func (s *State) Head(queue string) *Hook {
	if q := s.queue(queue); !q.busy && len(q.tasks) > 0 && q.tasks[0].of == runs {
		return &q.tasks[0].hook.Hook
	}
	return nil
}

// Take starts the first task of a queue, combined with the following tasks of the same
// hook. It returns false if the queue is empty or busy. Take completes tasks that need no
// hook by itself.
func (s *State) Take(queue string) (Task, bool) {
	q := s.queue(queue)
	for !q.busy && len(q.tasks) > 0 {
		q.compact()
		t := q.tasks[0]
		h := t.hook
		switch {
		case t.of == enablesSchedules:
			h.scheduled = true
			q.drop()
		case t.of == enablesKubernetes:
			q.busy = true
			taken := Task{Kind: Enable, Hook: h.Hook, Queue: queue, Failures: t.failures, task: t}
			for i := range h.Config.Kubernetes {
				taken.Bindings = append(taken.Bindings, Ref{h.Name, i})
			}
			return taken, true
		case t.synchronizes() && (h.Config.Version == "v0" || t.silent):
			q.drop()
			s.unlock(t.unlocks)
		case h.Config.Version == "v0" && t.events[0].of == atEvent:
			q.busy = true
			return Task{Kind: Breaks, Hook: h.Hook, Queue: queue, Failures: t.failures, task: t}, true
		default:
			q.busy = true
			t.frees = t.synchronizes()
			if h.Config.Version != "v0" && !t.alone && (!t.synchronizes() || t.group != "") {
				q.combine()
			}
			return t.due(queue), true
		}
	}
	return Task{}, false
}

// Finish completes a task. A failed task, including the tasks combined into it, stays in
// the queue unless allowFailure is set.
func (s *State) Finish(t Task, failure error) {
	if t.Queue == "" {
		return
	}
	q := s.queue(t.Queue)
	q.busy = false
	if failure != nil && !t.AllowFailure && !t.task.hook.gone {
		t.task.failures++
		return
	}
	q.drop()
	if t.task.hook.gone {
		return
	}
	switch {
	case t.Kind == Enable:
		q.tasks = slices.Insert(q.tasks, 0, t.task.hook.synchronizations()...)
	case t.task.frees:
		s.unlock(t.task.unlocks)
	}
}

// Tick triggers all schedules with a crontab. It reports whether there is one.
func (s *State) Tick(crontab string) bool {
	fired := false
	for _, h := range s.hooks {
		for i, b := range h.Config.Schedule {
			if !h.scheduled || b.Crontab != crontab {
				continue
			}
			fired = true
			s.queue(cmp.Or(b.Queue, Main)).add(&task{of: runs, hook: h, group: b.Group, allow: b.AllowFailure,
				events: []event{{of: atSchedule, place: i, group: b.Group}}})
		}
	}
	return fired
}

func (s *State) queue(name string) *queue {
	q := s.queues[name]
	if q == nil {
		q = &queue{counts: map[*hookState]int{}, full: map[*hookState]bool{}}
		s.queues[name] = q
	}
	return q
}

func (s *State) hook(name string) *hookState {
	i := slices.IndexFunc(s.hooks, func(h *hookState) bool { return h.Name == name })
	if i < 0 {
		return nil
	}
	return s.hooks[i]
}

// contexts returns a builder of binding contexts from the current state.
func (h *hookState) contexts() binding.Contexts {
	return binding.Contexts{Config: h.Config, Snapshot: func(place int) ([]binding.Item, error) {
		return h.monitors[place].snapshot(), nil
	}}
}
