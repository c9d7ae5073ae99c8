package engine

import (
	"cmp"
	"slices"
)

// Remove removes a hook and its waiting tasks. A running task must still be finished,
// without further effect.
func (s *State) Remove(hook string) {
	h := s.hook(hook)
	if h == nil {
		return
	}
	h.gone = true
	s.hooks = slices.DeleteFunc(s.hooks, func(other *hookState) bool { return other == h })
	for _, q := range s.queues {
		var atWork *task
		if q.busy {
			atWork = q.tasks[0]
		}
		q.tasks = slices.DeleteFunc(q.tasks, func(t *task) bool { return t.hook == h && t != atWork })
		delete(q.counts, h)
		delete(q.full, h)
	}
}

// Add adds a new hook, ordered by path, and its start-up tasks.
func (s *State) Add(hook Hook) {
	h := &hookState{Hook: hook, monitors: make([]*monitor, len(hook.Config.Kubernetes))}
	place, _ := slices.BinarySearchFunc(s.hooks, h, func(a, b *hookState) int { return cmp.Compare(a.Path, b.Path) })
	s.hooks = slices.Insert(s.hooks, place, h)
	if hook.Config.OnStartup != nil {
		s.startup(h)
	}
	s.enable(h)
}

func (s *State) startup(h *hookState) {
	s.queue(Main).add(&task{of: runs, hook: h, events: []event{{of: atStartup}}, alone: true})
}

// enable adds the tasks that enable the bindings of a hook to the queue main.
func (s *State) enable(h *hookState) {
	if len(h.Config.Kubernetes) > 0 {
		s.queue(Main).add(&task{of: enablesKubernetes, hook: h})
	}
	if len(h.Config.Schedule) > 0 {
		s.queue(Main).add(&task{of: enablesSchedules, hook: h})
	}
}
