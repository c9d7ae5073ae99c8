// Package createcmd implements `operon create`: api, webhook, hook and module.
package createcmd

import (
	"context"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/spf13/cobra"
)

// New returns the command create.
func New(a *command.App) *cobra.Command {
	cmd := command.NewGroup("create", "Add an API, a webhook, a hook or a module to the project", newCreateAPI(a), newCreateWebhook(a), newCreateHook(a), newCreateModule(a))
	cmd.Example = `  operon create api --group ship --version v1 --kind Frigate
  operon create api --help    # list the flags of create api`
	return cmd
}

// creation has the fields that create api, webhook and hook share.
type creation struct {
	command.WriteFlags
	project command.Project // open for reading
	cmd     *cobra.Command
	options *command.PluginFlags
	called  []string // keys of the plugins in --plugins; nil: all plugins of the project take part

	manifests bool // --manifests; only create api has the flag
}

// bind adds the flags of commands that write to cmd. generated names the files that
// --make generates.
func (o *creation) bind(a *command.App, cmd *cobra.Command, event plugin.EventType, generated string) {
	o.cmd = cmd
	o.options = a.BindPluginFlags(cmd, event)
	o.BindMake(cmd, generated)
	o.BindForce(cmd)
	o.Bind(cmd)
}

// send plans the event of the command, and then the generated files.
func (o *creation) send(ctx context.Context, a *command.App, s command.Project, event plugin.Event) error {
	inv, err := a.NewInvocation(ctx, s, o.options)
	if err != nil {
		return err
	}
	if o.called != nil {
		inv.Only(o.called)
	}
	event.Options = inv.Options
	if err := inv.Send(ctx, event); err != nil {
		return err
	}
	return o.generate(ctx, inv)
}

// generate plans the generated files that --make and --manifests request. The manifests follow --make
// unless the user set the other flag.
func (o *creation) generate(ctx context.Context, inv *command.Invocation) error {
	set := o.cmd.Flags().Changed(manifestsFlag)
	switch {
	case o.Make && set && !o.manifests:
		return inv.GeneratePart(ctx, plugin.Event{Options: map[string]any{"only": []string{"object", request.ApplyConfigurations}}})
	case o.Make:
		return inv.Generate(ctx)
	case set && o.manifests:
		return inv.GeneratePart(ctx, plugin.Event{ManifestsOnly: true})
	}
	return nil
}

const manifestsFlag = "manifests"
