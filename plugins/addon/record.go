package addon

import (
	"cmp"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
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
			if k, err := kubeapi.Builtin().Find(o.APIVersion, o.Kind.Kind); err == nil && o.Resource == "" {
				o.Resource, o.ClusterScoped = k.Resource, !k.Namespaced
			}
		}
	}
	if err := r.check(); err != nil {
		return r, project.InPluginConfig(Key, err)
	}
	return r, nil
}

// check validates what becomes part of paths and code.
func (r record) check() error {
	if err := hookscaffold.CheckLang(r.Lang); err != nil {
		return err
	}
	for i, m := range r.Modules {
		switch {
		case !moduleName().MatchString(m.Name):
			return checkModuleName(m.Name)
		case m.Weight < 0 || m.Weight > maxWeight:
			return fault.Usage("write weight: 100, for example", "the weight %d of the module %s is not a number from 0 to %d", m.Weight, m.Name, maxWeight)
		case slices.ContainsFunc(r.Modules[:i], func(o Module) bool { return o.Name == m.Name }):
			return fault.Usage("remove one of them", "the module %s occurs twice", m.Name)
		}
	}
	for i, h := range r.Hooks {
		if err := h.Check(); err != nil {
			return err
		}
		if _, known := r.module(h.Module); h.Module != "" && !known {
			return fault.Usage("correct it, or add the module below modules", "the hook %s has the module %s, which is not among the modules", h.Name, h.Module)
		}
		if slices.ContainsFunc(r.Hooks[:i], func(o Hook) bool { return o.Name == h.Name && o.Module == h.Module }) {
			return fault.Usage("remove one of them", "the hook %s occurs twice", h.Name)
		}
	}
	return nil
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
