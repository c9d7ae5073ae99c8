package addon

import (
	"cmp"
	"slices"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
)

// record is the data of an addon-operator project in PROJECT, below plugins and Key.
type record struct {
	Lang    string   `json:"lang,omitempty"` // default language of hooks
	Modules []Module `json:"modules,omitempty"`
	Hooks   []Hook   `json:"hooks,omitempty"`
}

// Module is a requested module.
type Module struct {
	Name    string `json:"name"`
	Weight  int    `json:"weight"`
	Enabled bool   `json:"enabledScript,omitempty"` // a script decides whether the module is enabled
}

// Hook is a hook of a module, or a global hook.
type Hook struct {
	Module string `json:"module,omitempty"` // "": a global hook
	hookscaffold.Hook
}

// recorded reads the record from PROJECT. It adds defaults for data that older versions of
// operon did not record.
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

// lang returns the default language of hooks. Older projects record none.
func (r record) lang() string { return cmp.Or(r.Lang, hookscaffold.Bash) }

// python reports whether the image needs Python.
func (r record) python() bool {
	return r.Lang == hookscaffold.Python || slices.ContainsFunc(r.Hooks, func(h Hook) bool { return h.Lang == hookscaffold.Python })
}
