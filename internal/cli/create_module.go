package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/addon"
	"github.com/spf13/cobra"
)

// ofModules reports whether a project consists of modules.
func ofModules(c *project.Config) bool { return slices.Contains(c.Layout, addon.Key) }

// createModule holds the flags of `operon create module`.
type createModule struct {
	writeFlags
	weight  string
	enabled bool

	cmd     *cobra.Command
	options *options
}

func newCreateModule(a *App) *cobra.Command {
	o := &createModule{}
	cmd := &cobra.Command{
		Use:   "module NAME",
		Short: "Add a module to a project of modules",
		Long: `Add a module that addon-operator installs: a chart, the schemas of its values,
and its switch in modules/values.yaml, which is on unless somebody switched it
off. operon create hook --module adds hooks to it.

The chart and the schemas are an example that installs; replace what is in them.`,
		Example: `  operon create module cert-issuer
  operon create module registry-cache --weight 200 --enabled-script`,
		Args: moduleNameOnly, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&o.weight, "weight", "", "`NUMBER` from 0 to 999 by which modules are sorted (default: ten more than the last one's)")
	f.BoolVar(&o.enabled, "enabled-script", false, "also write a script that decides whether the module is enabled")
	f.BoolVar(&o.force, "force", false, "replace files that differ (the old content is kept in .operon/journal)")
	o.bind(cmd)
	o.options = bindOptions(cmd, a.Layouts.All(), plugin.CreateModule)
	must(cmd.RegisterFlagCompletionFunc("weight", cobra.NoFileCompletions))
	f.SortFlags = false
	return cmd
}

func moduleNameOnly(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fault.Usage("such as operon create module cert-issuer", "%s takes one name, got %d", cmd.CommandPath(), len(args))
	}
	return nil
}

func (o *createModule) run(a *App, args []string) error {
	err := a.inProject(o.cmd, o.writeFlags, func(ctx context.Context, s session) error {
		if !ofModules(s.cfg) {
			return fault.Usage("start one with operon init --plugins addon", "create module is for projects of modules, and the layout of this one is %s",
				strings.Join(s.cfg.Layout, ","))
		}
		t, err := a.team(s, o.options)
		if err != nil {
			return err
		}
		t.options["module"], t.options["weight"], t.options["enabled-script"] = args[0], o.weight, o.enabled
		return t.active.Plan(ctx, plugin.Event{Kind: plugin.CreateModule, Dir: t.root, Project: t.cfg, Options: t.options}, t.plan)
	})
	if err != nil || o.dryRun {
		return err
	}
	a.next("operon create hook <name> --module " + args[0] + " --before-helm 10, then make validate")
	return nil
}
