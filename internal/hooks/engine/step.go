package engine

import "github.com/operon-dev/operon/internal/hooks/binding"

// Step returns the task for a step of addon-operator, such as beforeHelm. The task uses
// no queue; if it fails, addon-operator retries the whole module. Step returns false if
// the hook has no such binding.
func (s *State) Step(hook, name string) (Task, bool) {
	h := s.hook(hook)
	if _, bound := h.Config.Steps[name]; !bound {
		return Task{}, false
	}
	ctx, _ := h.contexts().Step(name) // snapshots are in memory, so the call cannot fail
	return Task{Hook: h.Hook, Contexts: []binding.Context{ctx}}, true
}
