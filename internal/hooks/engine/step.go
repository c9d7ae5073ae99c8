package engine

import "github.com/operon-dev/operon/internal/hooks/binding"

// Step returns the task for a step of addon-operator, such as beforeHelm. The task uses no queue;
// if it fails, addon-operator retries all steps of the module. bound reports whether the hook is
// bound to the step.
func (s *State) Step(hook, name string) (t Task, bound bool) {
	h := s.hook(hook)
	if _, bound = h.Config.Steps[name]; !bound {
		return t, false
	}
	ctx, _ := h.contexts().Step(name) // snapshots are in memory, so the call cannot fail
	return Task{Hook: h.Hook, Contexts: []binding.Context{ctx}}, true
}
