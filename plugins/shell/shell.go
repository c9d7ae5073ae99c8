// Package shell scaffolds operators whose logic is a set of hooks: scripts that
// github.com/flant/shell-operator runs when objects change.
package shell

import (
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
	"github.com/operon-dev/operon/templates"
)

// Key is the plugin's name in PROJECT.
const Key = "shell.operon.dev/v1"

// Plugin is the shell plugin.
type Plugin struct{}

var _ plugin.Plugin = Plugin{}

// Name implements plugin.Plugin.
func (Plugin) Name() string { return Key }

// Doc implements plugin.Plugin.
func (Plugin) Doc() string { return "operators as hooks in bash or Python, run by shell-operator" }

// Options implements plugin.Plugin.
func (Plugin) Options() []plugin.Option {
	return slices.Concat(hookscaffold.HookOptions(), hookscaffold.LangOptions())
}

// Plan implements plugin.Plugin.
func (Plugin) Plan(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	if _, err := recorded(e.Project); err != nil {
		return err
	}
	switch e.Type {
	case plugin.Init:
		return initProject(e, p)
	case plugin.CreateHook:
		return createHook(e, p)
	case plugin.CreateAPI:
		return createAPI(e, p)
	case plugin.CreateWebhook:
		return fault.Usage("use operon create hook NAME with --validate, --mutate or --convert", "the webhooks of this project are hooks")
	case plugin.Generate:
		return generate(ctx, e, p)
	}
	return nil
}

// values are the values for the templates of shell/init and shell/webhook.
type values struct {
	Project *project.Config
	Name    string // the project's name, as a scalar
	Lang    string
	Python  bool // at least one hook is in Python
	Pins    struct{ ShellOperator, CertManager string }
}

func initData(c *project.Config, r record) values {
	v := values{Project: c, Name: yamledit.Scalar(c.ProjectName), Lang: r.Lang}
	v.Python = slices.Contains(r.languages(), hookscaffold.Python)
	v.Pins.ShellOperator, v.Pins.CertManager = pins.ShellOperator, pins.CertManager
	return v
}

// initProject plans the initial files of a project and the hooks that PROJECT records.
func initProject(e plugin.Event, p *scaffold.Plan) error {
	if err := hookscaffold.CheckInit(e.Project, "hooks configure the namespaces that they watch, and get no other permissions"); err != nil {
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
	e.Project.MultiGroup = true // without Go types, several groups are always possible
	if err := render.Tree(p.Templates(templates.FS), "shell/init", nil, initData(e.Project, r), hookscaffold.InitSink(p)); err != nil {
		return err
	}
	if err := firstRoles(p); err != nil {
		return err
	}
	if err := hookscaffold.PlanLibrary(r.Lang, libraryDir, p); err != nil {
		return err
	}
	for _, kind := range e.Project.Resources { // conversions read the CRDs
		if err := createAPI(plugin.Event{Project: e.Project, Resource: &kind}, p); err != nil {
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
