package addon

import (
	"reflect"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/module"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
)

// usages are the descriptions of the flags for addon-operator's bindings, by binding.
var usages = map[string]string{
	"beforeAll":        "run a global hook before any module, by `ORDER`",
	"afterAll":         "run a global hook after all modules, by `ORDER`",
	"beforeHelm":       "run before the chart of the module is installed or upgraded, by `ORDER`",
	"afterHelm":        "run after the chart of the module is installed or upgraded, by `ORDER`",
	"beforeDeleteHelm": "run before the Helm release of the module is deleted, by `ORDER`",
	"afterDeleteHelm":  "run after the Helm release of the module is deleted, by `ORDER`",
}

// owner returns the type of a hook's owner: global if module is "", or else a module.
func owner(module string) config.Owner {
	if module == "" {
		return config.Global
	}
	return config.Module
}

// createHook plans and records the hook that the options describe.
func createHook(e plugin.Event, p *scaffold.Plan) error {
	r, err := recorded(e.Project)
	if err != nil {
		return err
	}
	h, err := parseHook(e, r, p)
	if err != nil {
		return err
	}
	old, known := r.hook(h.Module, h.Name)
	if known && reflect.DeepEqual(old, h) {
		return planHook(e.Project, r, h, p)
	}
	if known {
		if err := hookscaffold.CheckReplace(h.Name, old.Path(r.place(old)), h.Path(r.place(h)), p); err != nil {
			return err
		}
		r.Hooks = slices.DeleteFunc(r.Hooks, func(o Hook) bool { return o.Name == h.Name && o.Module == h.Module })
	}
	r.Hooks = append(r.Hooks, h)
	e.Project.EncodePluginConfig(Key, r)
	h.Add(r.place(h), p)
	return planHook(e.Project, r, h, p)
}

// parseHook returns the hook that the options of e describe.
func parseHook(e plugin.Event, r record, p *scaffold.Plan) (Hook, error) {
	h := Hook{Module: e.String("module")}
	if _, known := r.module(h.Module); h.Module != "" && !known {
		var names []string
		for _, m := range r.Modules {
			names = append(names, m.Name)
		}
		hint := "create it first: operon create module " + h.Module
		if near := fault.Nearest(h.Module, names); near != "" {
			hint = "did you mean --module " + near + "?"
		}
		return h, fault.Usage(hint, "there is no module %s", h.Module)
	}
	for _, flag := range []string{"validate", "mutate", "convert"} {
		if len(e.Strings(flag)) > 0 {
			return h, fault.Usage("omit it: addon-operator does not support webhooks in hooks", "--%s is not for hooks of addon-operator", flag)
		}
	}
	for _, step := range append(config.Global.Steps(), config.Module.Steps()...) {
		flag := config.CommandLineName(step)
		of := slices.Contains(owner(h.Module).Steps(), step)
		switch {
		case of || e.String(flag) == "":
		case h.Module != "":
			return h, fault.Usage("leave out --module", "--%s is for global hooks", flag)
		default:
			return h, fault.Usage("add --module NAME", "--%s is for hooks of a module", flag)
		}
	}
	var folders []string
	for _, m := range r.Modules {
		folders = append(folders, m.Folder()+"/crds")
	}
	kinds, err := hookscaffold.Kinds(p, module.InstallsCRDs, folders...)
	if err != nil {
		return h, err
	}
	h.Hook, err = hookscaffold.ParseOptions(e, hookscaffold.OptionContext{
		Owner: owner(h.Module), Lang: r.lang(), Kinds: kinds, CRDs: "the folder crds of a module",
	})
	return h, err
}

// place returns where a hook belongs in the project.
func (r record) place(h Hook) hookscaffold.Place {
	at := hookscaffold.Place{
		Owner: owner(h.Module), Values: "global",
		File: "global-hooks/hooks/" + h.Name, Test: "test/hooks/global/" + h.Name + ".yaml",
	}
	if m, known := r.module(h.Module); known {
		at.File, at.Test, at.Values = m.Folder()+"/hooks/"+h.Name, "test/hooks/"+m.Name+"/"+h.Name+".yaml", module.Key(m.Name)
	}
	at.Library = libraryFolder
	return at
}

// planHook plans a recorded hook.
func planHook(c *project.Config, r record, h Hook, p *scaffold.Plan) error {
	if err := h.Plan(r.place(h), p); err != nil {
		return err
	}
	if h.Lang == r.lang() {
		return nil
	}
	return image(c, r, p) // the hook may need another interpreter
}
