package cli

import (
	"context"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

func newCreate(a *App) *cobra.Command {
	return newGroup("create", "Add to a project", newCreateAPI(a), newCreateWebhook(a))
}

// team are the plugins of a project, and what every event of one command says.
type team struct {
	session
	active  plugin.Set
	options map[string]any
	year    string
}

// team selects the plugins of the project and reads the options that the user
// gave them.
func (a *App) team(s session, o *options) (*team, error) {
	active, unknown, err := a.Layouts.Select(s.cfg.Layout)
	if err != nil {
		return nil, err
	}
	warnUnknown(s.plan, unknown)
	t := &team{session: s, active: active}
	if t.options, err = o.given(active); err != nil {
		return nil, err
	}
	if t.year, err = a.year(); err != nil {
		return nil, err
	}
	t.options["this-year"] = t.year
	return t, nil
}

// send plans an event about r.
func (t *team) send(ctx context.Context, kind plugin.Kind, r *project.Resource) error {
	e := plugin.Event{Kind: kind, Dir: t.root, Project: t.cfg, Resource: r, Options: t.options}
	return t.active.Plan(ctx, e, t.plan)
}

// generate plans what follows from the sources.
func (t *team) generate(ctx context.Context) error {
	e := plugin.Event{Kind: plugin.Generate, Dir: t.root, Project: t.cfg, Options: map[string]any{"this-year": t.year}}
	return t.active.Plan(ctx, e, t.plan)
}
