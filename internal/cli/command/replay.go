package command

import (
	"context"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Replay plans, after an Init event, everything that PROJECT records: first the
// APIs, for webhooks build on them. What is there already and as operon wrote it
// stays.
func (a *App) Replay(ctx context.Context, root string, cfg *project.Config, p *scaffold.Plan) error {
	active, _, err := a.Layouts.Select(cfg.Layout)
	if err != nil {
		return err
	}
	year, err := a.Year()
	if err != nil {
		return err
	}
	for _, kind := range []plugin.Kind{plugin.CreateAPI, plugin.CreateWebhook} {
		for _, r := range cfg.Resources {
			if kind == plugin.CreateAPI && r.API == nil && len(r.ControllerNames()) == 0 {
				continue
			}
			if kind == plugin.CreateWebhook && r.Webhooks == nil {
				continue
			}
			e := plugin.Event{Kind: kind, Dir: root, Project: cfg, Resource: &r, Options: map[string]any{"this-year": year}}
			if err := active.Plan(ctx, e, p); err != nil {
				return err
			}
		}
	}
	return nil
}
