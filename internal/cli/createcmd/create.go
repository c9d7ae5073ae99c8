// Package createcmd implements `operon create`: api, webhook, hook and module.
package createcmd

import (
	"context"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// New returns the command create.
func New(a *command.App) *cobra.Command {
	return command.NewGroup("create", "Add an API, a webhook, a hook or a module to the project", newCreateAPI(a), newCreateWebhook(a), newCreateHook(a), newCreateModule(a))
}

// creation has the flags that create api and create webhook share.
type creation struct {
	command.WriteFlags
	external externalFlags
	resource project.Resource
	make     bool

	project command.Project // open for reading
	cmd     *cobra.Command
	options *command.PluginFlags
}

// create records a resource in PROJECT and plans the parts that the command adds.
// complete returns the whole resource, and the resource reduced to these parts.
func (o *creation) create(a *command.App, event plugin.EventType, complete func(context.Context, command.Project) (whole, added project.Resource, err error)) error {
	err := a.ChangeProject(o.cmd, o.project, o.WriteFlags, func(ctx context.Context, s command.Project) error {
		whole, added, err := complete(ctx, s)
		if err != nil {
			return err
		}
		inv, err := a.NewInvocation(s, o.options)
		if err != nil {
			return err
		}
		s.Config.Put(whole)
		if err := inv.Send(ctx, plugin.Event{Type: event, Resource: &added, Options: inv.Options}); err != nil || !o.make {
			return err
		}
		return inv.Generate(ctx)
	})
	if err == nil && !o.DryRun && !o.make {
		a.Notef("note: no files were generated (--make=false); run `operon generate`")
	}
	return err
}

// wizard asks for the group, version and kind if they are missing. It returns nil if
// nobody can answer.
func (o *creation) wizard(a *command.App) (*wizard, error) {
	missing := checkNamed(o.resource)
	if a.Prompt == nil {
		return nil, missing
	}
	w := &wizard{app: a, cmd: o.cmd, domain: o.project.Config.Domain}
	if missing == nil {
		return w, nil
	}
	return w, w.names(&o.resource)
}
