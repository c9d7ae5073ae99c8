// Package createcmd holds `operon create`: api, webhook, hook and module.
package createcmd

import (
	"context"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

func New(a *command.App) *cobra.Command {
	return command.NewGroup("create", "Add an API, a webhook, a hook or a module to the project", newCreateAPI(a), newCreateWebhook(a), newCreateHook(a), newCreateModule(a))
}

// creation is what the create commands have in common: a resource, and what is to
// be made of it.
type creation struct {
	command.WriteFlags
	foreign  externalFlags
	resource project.Resource
	make     bool

	project command.Project // as it was opened, before it is locked
	cmd     *cobra.Command
	options *command.PluginFlags
}

// create records a resource in PROJECT, and plans the parts of it that the command
// asks for. complete returns both: the resource with all that it has then, and
// reduced to what is asked for.
func (o *creation) create(a *command.App, event plugin.EventType, complete func(context.Context, command.Project) (whole, asked project.Resource, err error)) error {
	err := a.ChangeProject(o.cmd, o.project, o.WriteFlags, func(ctx context.Context, s command.Project) error {
		whole, asked, err := complete(ctx, s)
		if err != nil {
			return err
		}
		inv, err := a.NewInvocation(s, o.options)
		if err != nil {
			return err
		}
		s.Config.Put(whole)
		if err := inv.Send(ctx, plugin.Event{Type: event, Resource: &asked, Options: inv.Options}); err != nil || !o.make {
			return err
		}
		return inv.Generate(ctx)
	})
	if err == nil && !o.DryRun && !o.make {
		a.Notef("note: nothing was generated (--make=false); run `operon generate`")
	}
	return err
}

// wizard asks for the names that were not given. It is nil where nobody is there
// to answer.
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
