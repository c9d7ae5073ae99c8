package createcmd

import (
	"context"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/spf13/cobra"
)

// createModule holds the flags of `operon create module`.
type createModule struct {
	command.WriteFlags

	cmd     *cobra.Command
	options *command.PluginFlags
}

func newCreateModule(a *command.App) *cobra.Command {
	o := &createModule{}
	cmd := &cobra.Command{
		Use:   "module NAME",
		Short: "Add a module with an example chart",
		Long: `Add a module that addon-operator installs: a chart, the schemas of its values,
and its entry in modules/values.yaml, enabled by default. Use operon create hook
--module to add hooks.

The chart and the schemas are a working example. Replace their content.`,
		Example: `  operon create module cert-issuer
  operon create module registry-cache --weight 200 --enabled-script`,
		Args: moduleNameOnly, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	o.cmd = cmd
	f := cmd.Flags()
	o.options = a.BindPluginFlags(cmd, plugin.CreateModule)
	o.BindForce(cmd)
	o.Bind(cmd)
	command.CompleteNothing(cmd, "weight")
	f.SortFlags = false
	return cmd
}

func moduleNameOnly(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fault.Usage("name one module, as in operon create module cert-issuer", "%s needs one name, got %d", cmd.CommandPath(), len(args))
	}
	return nil
}

func (o *createModule) run(a *command.App, args []string) error {
	err := a.InProject(o.cmd, o.WriteFlags, func(ctx context.Context, s command.Project) error {
		if !a.HasModules(s.Config) {
			return fault.Usage("start one with operon init --plugins addon", "create module needs a module project; the layout of this project is %s",
				strings.Join(s.Config.Layout, ","))
		}
		inv, err := a.NewInvocation(ctx, s, o.options)
		if err != nil {
			return err
		}
		return inv.Send(ctx, plugin.Event{Type: plugin.CreateModule, Name: args[0], Options: inv.Options})
	})
	if err != nil {
		return err
	}
	a.NextStep("operon create hook <name> --module " + args[0] + " --before-helm 10, then make validate")
	return nil
}
