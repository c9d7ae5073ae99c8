package engine

import "github.com/operon-dev/operon/internal/hooks/binding"

// ConversionStep makes the task of a step of addon-operator's work for a hook, such as
// beforeHelm: it waits in no queue, and what fails is for the whole module to try
// again. There is none when the hook has no such binding.
func (s *State) Step(hook, name string) (Task, bool) {
	h := s.hook(hook)
	if _, bound := h.Config.Steps[name]; !bound {
		return Task{}, false
	}
	ctx, _ := h.contexts().Step(name) // the snapshots are at hand
	return Task{Hook: h.Hook, Contexts: []binding.Context{ctx}}, true
}
