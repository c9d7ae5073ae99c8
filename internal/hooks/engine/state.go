package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/binding"
)

// State is the state of an engine: the objects of its bindings, and its queues.
type State struct {
	hooks  []*hookState // ordered by path
	queues map[string]*queue
}

// hookState is the state of a hook.
type hookState struct {
	Hook
	monitors  []*monitor // one for each kubernetes binding; nil until the binding is enabled
	scheduled bool       // schedules are enabled
	removed   bool
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

// Start adds the start-up tasks to the queue main: first the hooks with onStartup in their order,
// then the tasks that enable the bindings of each hook.
func (s *State) Start() {
	var startup []*hookState
	for _, h := range s.hooks {
		if h.Config.OnStartup != nil {
			startup = append(startup, h)
		}
	}
	slices.SortStableFunc(startup, func(a, b *hookState) int { return cmp.Compare(*a.Config.OnStartup, *b.Config.OnStartup) })
	for _, h := range startup {
		s.addStartup(h)
	}
	for _, h := range s.hooks {
		s.addEnable(h)
	}
}

// Queues returns the names of the queues that have tasks: first main, then the others by name.
func (s *State) Queues() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		if len(s.queues[name].tasks) > 0 && name != mainQueue {
			names = append(names, name)
		}
	}
	if len(s.queue(mainQueue).tasks) > 0 {
		names = slices.Insert(names, 0, mainQueue)
	}
	return names
}

// NextHook returns the hook that the next task in a queue runs. ok is false if there is no such
// task. Callers use it to limit how often a hook runs, before Take combines its tasks.
func (s *State) NextHook(queue string) (h Hook, ok bool) {
	q := s.queue(queue)
	if q.busy || len(q.tasks) == 0 || q.tasks[0].kind != runHook {
		return h, false
	}
	return q.tasks[0].hook.Hook, true
}

// Take starts the first task of a queue, combined with the following tasks of the same hook. ok is
// false if the queue is empty or busy. Take itself completes tasks that neither run a hook nor
// enable kubernetes bindings.
func (s *State) Take(queue string) (t Task, ok bool) {
	q := s.queue(queue)
	for !q.busy && len(q.tasks) > 0 {
		q.compact()
		first := q.tasks[0]
		h := first.hook
		switch {
		case first.kind == enableSchedules:
			h.scheduled = true
			q.removeFirst()
		case first.kind == enableKubernetes:
			q.busy = true
			enable := Task{Kind: Enable, Hook: h.Hook, Queue: queue, Failures: first.failures, task: first}
			for i := range h.Config.Kubernetes {
				enable.Bindings = append(enable.Bindings, Ref{h.Name, i})
			}
			return enable, true
		case first.isSynchronization() && (h.Config.Version == "v0" || first.skipHook):
			q.removeFirst()
			s.deliver(first.monitors)
		case h.Config.Version == "v0" && first.events[0].origin == fromEvent:
			q.busy = true
			return Task{Kind: Panics, Hook: h.Hook, Queue: queue, Failures: first.failures, task: first}, true
		default:
			q.busy = true
			first.deliverAfter = first.isSynchronization()
			if h.Config.Version != "v0" && !first.neverCombined && (!first.isSynchronization() || first.group != "") {
				q.combine()
			}
			return first.withContexts(queue), true
		}
	}
	return t, false
}

// Finish completes a task. A failed task remains in the queue, together with the tasks that were
// combined into it, unless allowFailure is set.
func (s *State) Finish(t Task, failure error) {
	if t.Queue == "" {
		return
	}
	q := s.queue(t.Queue)
	q.busy = false
	if failure != nil && !t.AllowFailure && !t.task.hook.removed {
		t.task.failures++
		return
	}
	q.removeFirst()
	if t.task.hook.removed {
		return
	}
	switch {
	case t.Kind == Enable:
		q.tasks = slices.Insert(q.tasks, 0, t.task.hook.synchronizations()...)
	case t.task.deliverAfter:
		s.deliver(t.task.monitors)
	}
}

// Tick triggers all enabled schedules with a crontab. triggered reports whether there are any.
func (s *State) Tick(crontab string) (triggered bool) {
	for _, h := range s.hooks {
		for i, b := range h.Config.Schedule {
			if !h.scheduled || b.Crontab != crontab {
				continue
			}
			triggered = true
			s.queue(cmp.Or(b.Queue, mainQueue)).add(&task{kind: runHook, hook: h, group: b.Group, allowFailure: b.AllowFailure,
				events: []event{{origin: fromSchedule, index: i, group: b.Group}}})
		}
	}
	return triggered
}

// queue returns a queue, and creates it if necessary.
func (s *State) queue(name string) *queue {
	q := s.queues[name]
	if q == nil {
		q = &queue{counts: map[*hookState]int{}, full: map[*hookState]bool{}}
		s.queues[name] = q
	}
	return q
}

// hook returns the state of a hook, or nil.
func (s *State) hook(name string) *hookState {
	i := slices.IndexFunc(s.hooks, func(h *hookState) bool { return h.Name == name })
	if i < 0 {
		return nil
	}
	return s.hooks[i]
}

// contexts creates binding contexts with the current snapshots.
func (h *hookState) contexts() binding.Contexts {
	return binding.Contexts{Config: h.Config, Snapshot: func(index int) ([]binding.Item, error) {
		return h.monitors[index].snapshot(), nil
	}}
}
