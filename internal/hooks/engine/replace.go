package engine

import (
	"cmp"
	"slices"
)

// Remove forgets a hook, and what waits for it. A task of it that is at work is to
// be finished as any other, and nothing comes of it.
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

// Add adds a hook that is not there, in the order of the paths, and what the engine
// begins with for it.
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

// enable puts the enabling of a hook's bindings into the queue main.
func (s *State) enable(h *hookState) {
	if len(h.Config.Kubernetes) > 0 {
		s.queue(Main).add(&task{of: enablesKubernetes, hook: h})
	}
	if len(h.Config.Schedule) > 0 {
		s.queue(Main).add(&task{of: enablesSchedules, hook: h})
	}
}
