// Package addon scaffolds projects for github.com/flant/addon-operator: global hooks,
// and modules, each with a chart, schemas of its values, and hooks.
package addon

import (
	"context"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
	"github.com/operon-dev/operon/templates"
)

// Key is the plugin's name in PROJECT.
const Key = "addon.operon.dev/v1"

// Plugin is the addon plugin.
type Plugin struct{}

var _ plugin.Plugin = Plugin{}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return Key }

// Doc implements plugin.Plugin.
func (Plugin) Doc() string { return "modules of charts and hooks, run by addon-operator" }

// Options implements plugin.Plugin.
func (Plugin) Options() []plugin.Option {
	module := []plugin.EventType{plugin.CreateModule}
	options := append(hookscaffold.HookOptions(),
		plugin.Option{Name: "weight", Default: "", Usage: "`NUMBER` from 0 to 999 that orders modules (default: ten more than the last)", Events: module},
		plugin.Option{Name: "enabled-script", Default: false, Usage: "add a script that decides whether the module is enabled", Events: module},
		plugin.Option{Name: "module", Default: "", Usage: "add the hook to a `MODULE` (default: none, a global hook)", Events: []plugin.EventType{plugin.CreateHook}})
	for _, step := range append(config.Global.Steps(), config.Module.Steps()...) {
		options = append(options, plugin.Option{
			Name: config.CommandLineName(step), Default: "", Events: []plugin.EventType{plugin.CreateHook}, Usage: usages[step],
		})
	}
	return append(options, hookscaffold.LangOptions()...)
}

// Plan implements plugin.Plugin.
func (Plugin) Plan(_ context.Context, e plugin.Event, p *scaffold.Plan) error {
	if _, err := recorded(e.Project); err != nil {
		return err
	}
	switch e.Type {
	case plugin.Init:
		return initProject(e, p)
	case plugin.CreateModule:
		return createModule(e, p)
	case plugin.CreateHook:
		return createHook(e, p)
	case plugin.CreateAPI:
		return fault.Usage("put the CRD in the folder crds of a module, or in another project", "a module project cannot have its own API")
	case plugin.CreateWebhook:
		return fault.Usage("serve it from a program that a chart installs", "addon-operator does not support webhooks in hooks")
	}
	return nil
}

// values are the values for the templates of addon/init.
type values struct {
	Project *project.Config
	Python  bool // at least one hook is in Python
	Pins    struct{ AddonOperator string }
}

func initData(c *project.Config, r record) values {
	v := values{Project: c, Python: r.python()}
	v.Pins.AddonOperator = pins.AddonOperator
	return v
}

// initProject plans the initial files of a project, and the modules and hooks that PROJECT
// records.
func initProject(e plugin.Event, p *scaffold.Plan) error {
	if err := hookscaffold.CheckInit(e.Project, "charts of modules install into any namespace"); err != nil {
		return err
	}
	r, err := recorded(e.Project)
	if err != nil {
		return err
	}
	if r.Lang, err = hookscaffold.ProjectLang(r.Lang, e); err != nil {
		return err
	}
	e.Project.EncodePluginConfig(Key, r)
	sink := hookscaffold.InitSink(p, commonValues)
	if err := render.Tree(p.Templates(templates.FS), "addon/init", nil, initData(e.Project, r), sink); err != nil {
		return err
	}
	if err := hookscaffold.PlanLibrary(r.Lang, libraryFolder, p); err != nil {
		return err
	}
	for _, m := range r.Modules {
		if err := m.checkFolder(p); err != nil {
			return err
		}
		if err := planModule(m, p); err != nil {
			return err
		}
	}
	for _, h := range r.Hooks {
		if err := planHook(e.Project, r, h, p); err != nil {
			return err
		}
	}
	return nil
}

// libraryFolder contains the libraries of all hooks. The engine ignores folders named lib when
// it searches for hooks.
const libraryFolder = "global-hooks/lib"

// image plans the Dockerfile again, for a changed set of languages.
func image(c *project.Config, r record, p *scaffold.Plan) error {
	return render.Tree(p.Templates(templates.FS), "addon/init", nil, initData(c, r), render.Only(p.Seed, "Dockerfile"))
}
