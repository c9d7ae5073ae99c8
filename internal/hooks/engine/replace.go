package engine

import (
	"cmp"
	"slices"
)

// Remove removes a hook and its waiting tasks. The caller must finish a running task of the hook,
// which has no further effect.
func (s *State) Remove(hook string) {
	h := s.hook(hook)
	if h == nil {
		return
	}
	h.removed = true
	s.hooks = slices.DeleteFunc(s.hooks, func(other *hookState) bool { return other == h })
	for _, q := range s.queues {
		var running *task
		if q.busy {
			running = q.tasks[0]
		}
		q.tasks = slices.DeleteFunc(q.tasks, func(t *task) bool { return t.hook == h && t != running })
		delete(q.counts, h)
		delete(q.full, h)
	}
}

// Add adds a hook and its start-up tasks.
func (s *State) Add(hook Hook) {
	h := &hookState{Hook: hook, monitors: make([]*monitor, len(hook.Config.Kubernetes))}
	i, _ := slices.BinarySearchFunc(s.hooks, h, func(a, b *hookState) int { return cmp.Compare(a.Path, b.Path) })
	s.hooks = slices.Insert(s.hooks, i, h)
	if hook.Config.OnStartup != nil {
		s.addStartup(h)
	}
	s.addEnable(h)
}

// addStartup adds the onStartup task of a hook to the queue main.
func (s *State) addStartup(h *hookState) {
	s.queue(mainQueue).add(&task{kind: runHook, hook: h, events: []event{{origin: fromStartup}}, neverCombined: true})
}

// addEnable adds the tasks that enable the bindings of a hook to the queue main.
func (s *State) addEnable(h *hookState) {
	if len(h.Config.Kubernetes) > 0 {
		s.queue(mainQueue).add(&task{kind: enableKubernetes, hook: h})
	}
	if len(h.Config.Schedule) > 0 {
		s.queue(mainQueue).add(&task{kind: enableSchedules, hook: h})
	}
}
