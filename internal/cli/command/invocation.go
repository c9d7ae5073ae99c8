package command

import (
	"context"
	"io/fs"
	"maps"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/templates"
)

// Invocation is one run of a command in a project: its plugins, and the fields that all
// their events share.
type Invocation struct {
	Project
	Plugins     plugin.Set
	Options     map[string]any // the plugin flags of this command, for the event that they describe
	Environment plugin.Environment
	NoCache     bool // generate without the cache

	app *App
}

// NewInvocation selects the plugins of the project and reads their flags, which may
// be nil.
func (a *App) NewInvocation(ctx context.Context, p Project, flags *PluginFlags) (*Invocation, error) {
	if err := a.install(ctx, recordedPlugins(p.Config)); err != nil {
		return nil, err
	}
	active, err := a.Catalogue.Active(p.Config)
	if err != nil {
		return nil, err
	}
	if err := a.checkLogic(p.Config); err != nil {
		return nil, err
	}
	inv := &Invocation{Project: p, Plugins: active, app: a}
	if flags != nil {
		if inv.Options, err = flags.values(active, p.Plan.Exists(project.File)); err != nil {
			return nil, err
		}
	}
	p.Plan.UseTemplates(func() (fs.FS, error) { return a.openTemplates(ctx, p) })
	inv.Environment.Path = a.Getenv("PATH")
	inv.Environment.Environ, inv.Environment.Program = a.Environ, a.Program
	inv.Environment.Allow = a.allowCommands
	inv.Environment.Year, err = a.year()
	return inv, err
}

// Only limits the external plugins of the command to those with these keys.
func (inv *Invocation) Only(keys []string) { inv.Plugins = inv.app.Catalogue.Called(inv.Plugins, keys) }

// CheckTemplates returns an error if the templates of the project cannot be used. Other commands find out when
// they render one.
func (inv *Invocation) CheckTemplates() error {
	_, err := fs.Stat(inv.Plan.Templates(templates.FS), ".")
	return err
}

// checkLogic returns an error if PROJECT has the layout of hooks or modules for a project in Go, or
// the other way round.
func (a *App) checkLogic(c *project.Config) error {
	return a.Catalogue.CheckConfigs(c.Layout, maps.Keys(c.Plugins))
}

// Send makes the plugins plan an event, and sets the fields that all events of the command
// share.
func (inv *Invocation) Send(ctx context.Context, e plugin.Event) error {
	if e.Type != plugin.Generate { // generators read the sources, which may be right
		if err := inv.checkModule(); err != nil {
			return err
		}
	}
	e.Dir, e.Project, e.Before, e.Environment = inv.Root, inv.Config, inv.Before, inv.Environment
	return inv.Plugins.Plan(ctx, e, inv.Plan)
}

// checkModule returns an error if go.mod has another module than PROJECT, whose module
// starts the import paths that plugins write.
func (inv *Invocation) checkModule() error {
	if inv.Config.Repo == "" || !inv.Plan.Exists("go.mod") {
		return nil
	}
	src, err := inv.Plan.Read("go.mod")
	if err != nil {
		return err
	}
	return inv.Config.CheckModule(src)
}

// Generate plans the generated files of the project, from the sources in the plan.
func (inv *Invocation) Generate(ctx context.Context) error {
	return inv.GeneratePart(ctx, plugin.Event{})
}

// GeneratePart is Generate with the arguments and options of an event.
func (inv *Invocation) GeneratePart(ctx context.Context, e plugin.Event) error {
	e.Type = plugin.Generate
	if !inv.NoCache {
		var err error
		if inv.Environment.CacheDir, err = inv.app.CacheDir(); err != nil {
			return err
		}
	}
	return inv.Send(ctx, e)
}

// Replay plans the resources in PROJECT after an Init event: first the APIs, then the
// webhooks, which need them. Files that did not change are kept.
func (inv *Invocation) Replay(ctx context.Context) error {
	for _, event := range []plugin.EventType{plugin.CreateAPI, plugin.CreateWebhook} {
		for _, r := range inv.Config.Resources {
			if event == plugin.CreateAPI && r.API == nil && len(r.ControllerNames()) == 0 {
				continue
			}
			if event == plugin.CreateWebhook && r.Webhooks == nil {
				continue
			}
			if err := inv.Send(ctx, plugin.Event{Type: event, Resource: &r, Replay: true}); err != nil {
				return err
			}
		}
	}
	return nil
}
