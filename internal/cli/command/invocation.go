package command

import (
	"context"
	"maps"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
)

// Invocation is one run of a command in a project: the project's plugins, and what
// the events that they get have in common.
type Invocation struct {
	Project
	Plugins plugin.Set
	Options map[string]any // of every event but those of Generate
	Year    string
	NoCache bool // generate without what earlier runs kept

	app *App
}

// NewInvocation selects the plugins of the project and reads their flags, which may
// be nil.
func (a *App) NewInvocation(p Project, flags *PluginFlags) (*Invocation, error) {
	active, unknown, err := a.Layouts.Select(p.Config.Layout)
	if err != nil {
		return nil, err
	}
	WarnUnknown(p.Plan, unknown)
	inv := &Invocation{Project: p, Plugins: active, Options: map[string]any{}, app: a}
	if flags != nil {
		if inv.Options, err = flags.Values(active); err != nil {
			return nil, err
		}
	}
	if inv.Year, err = a.Year(); err != nil {
		return nil, err
	}
	inv.Options["this-year"] = inv.Year
	return inv, nil
}

// Send plans an event about r.
func (inv *Invocation) Send(ctx context.Context, kind plugin.Kind, r *project.Resource) error {
	e := plugin.Event{Kind: kind, Dir: inv.Root, Project: inv.Config, Resource: r, Options: inv.Options}
	return inv.Plugins.Plan(ctx, e, inv.Plan)
}

// Generate plans what derives from the sources of the project.
func (inv *Invocation) Generate(ctx context.Context, options map[string]any) error {
	all := map[string]any{"this-year": inv.Year, "cache": "", "path": inv.app.Getenv("PATH")}
	if !inv.NoCache {
		dir, err := inv.app.CacheDir()
		if err != nil {
			return err
		}
		all["cache"] = dir
	}
	maps.Copy(all, options)
	e := plugin.Event{Kind: plugin.Generate, Dir: inv.Root, Project: inv.Config, Options: all}
	return inv.Plugins.Plan(ctx, e, inv.Plan)
}
