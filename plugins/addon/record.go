package addon

import (
	"cmp"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
)

// record is what PROJECT remembers of a project of modules, below plugins and Key.
type record struct {
	Lang    string   `json:"lang,omitempty"` // of hooks that say nothing else
	Modules []Module `json:"modules,omitempty"`
	Hooks   []Hook   `json:"hooks,omitempty"`
}

// Module is a module as it was asked for.
type Module struct {
	Name    string `json:"name"`
	Weight  int    `json:"weight"`
	Enabled bool   `json:"enabledScript,omitempty"` // it has a script that decides whether it is enabled
}

// Hook is a hook of a module, or a global one.
type Hook struct {
	Module string `json:"module,omitempty"` // "": a global hook
	hookscaffold.Hook
}

// recorded reads what PROJECT remembers. Projects that were made before hooks could be
// in other languages, and for kinds of CRDs, get what they do not record.
func recorded(c *project.Config) (record, error) {
	var r record
	if err := c.DecodePluginConfig(Key, &r); err != nil {
		return r, err
	}
	for i := range r.Hooks {
		h := &r.Hooks[i]
		h.Lang = cmp.Or(h.Lang, hookscaffold.Bash)
		for n := range h.Kubernetes {
			o := &h.Kubernetes[n]
			if k, err := kinds.Builtin().Find(o.APIVersion, o.Kind.Kind); err == nil && o.Resource == "" {
				o.Resource, o.ClusterScoped = k.Resource, !k.Namespaced
			}
		}
	}
	return r, nil
}

func (r record) module(name string) (Module, bool) {
	i := slices.IndexFunc(r.Modules, func(m Module) bool { return m.Name == name })
	if i < 0 {
		return Module{}, false
	}
	return r.Modules[i], true
}

func (r record) hook(module, name string) (Hook, bool) {
	i := slices.IndexFunc(r.Hooks, func(h Hook) bool { return h.Name == name && h.Module == module })
	if i < 0 {
		return Hook{}, false
	}
	return r.Hooks[i], true
}

// lang is the language of hooks that say nothing else; a project that was made before
// there was a choice records none.
func (r record) lang() string { return cmp.Or(r.Lang, hookscaffold.Bash) }

// python reports whether the image needs Python.
func (r record) python() bool {
	return r.Lang == hookscaffold.Python || slices.ContainsFunc(r.Hooks, func(h Hook) bool { return h.Lang == hookscaffold.Python })
}
