// Package generatecmd implements the commands that generate files and test the project:
// generate, manifests and test.
package generatecmd

import (
	"cmp"
	"context"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

// generate holds the flags of `operon generate` and `operon manifests`.
type generate struct {
	command.WriteFlags
	manifests bool // do not generate Go code
	all       bool
	watch     bool
	noCache   bool
	explain   bool

	explanation *plugin.Explanation // filled by the plugin, for --explain

	cmd     *cobra.Command
	options *command.PluginFlags
}

// NewGenerate returns the command generate.
func NewGenerate(a *command.App) *cobra.Command {
	o := &generate{}
	o.cmd = &cobra.Command{
		Use:   "generate [argument...]",
		Short: "Generate deepcopy methods, CRDs, RBAC and webhook manifests",
		Long: `Generate deepcopy methods, CRDs, RBAC and webhook configuration from the Go
sources. controller-gen writes the same output with the same arguments.
Without arguments, operon uses the arguments of the project: from
plugins["generate.operon.dev/v1"] of PROJECT, else from the controller-gen calls
in the Makefile and similar files, else kubebuilder's defaults. --only and
--paths select some of them, and --explain prints them. A generator in the
arguments has no other options than those given with it.

In a hook project, generate the roles from the configuration and the sources
of the hooks. Hooks run with --config for this, also with --dry-run and --check.

With --check, write nothing and exit with code 3 if generated files are missing,
out of date, stale or not in git. With --watch, keep running and regenerate when
a source is saved. A cache makes runs faster. OPERON_CACHE names its folder
(default: operon in the user's cache folder). OPERON_CACHE=off and --no-cache
disable it. docs/generate.md describes these modes.`,
		Example: `  operon generate
  operon generate --only crd,rbac
  operon generate crd:maxDescLen=0 paths=./api/... output:crd:dir=out
  operon generate --explain
  operon generate --check --diff
  operon generate --watch`,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	o.cmd.Flags().BoolVar(&o.all, "all", true, "run all generators")
	return o.build(a)
}

func (o *generate) build(a *command.App) *cobra.Command {
	o.BindCheck(o.cmd, "generated files differ")
	o.Bind(o.cmd)
	o.cmd.Flags().BoolVar(&o.noCache, "no-cache", false, "ignore the cache, and do not write to it")
	o.cmd.Flags().BoolVar(&o.explain, "explain", false, "write nothing, and print the controller-gen calls, where they come from, and how packages are loaded")
	o.cmd.Flags().BoolVar(&o.watch, "watch", false, "keep running, and regenerate on every save")
	o.options = a.BindPluginFlags(o.cmd, plugin.Generate)
	return o.cmd
}

func (o *generate) run(a *command.App, args []string) error {
	err := cmp.Or(command.PeerCommand(o.cmd, args),
		o.checkAll(), o.checkExplain(), o.checkWatch(), o.CheckCheck(o.cmd), checkArguments(args))
	if err != nil {
		return err
	}
	if o.explain {
		return o.explainProject(a, args)
	}
	if o.watch {
		return o.watchProject(a, args)
	}
	if o.noCache || o.Check { // the inputs of a plan do not include the state of git
		_, _, err := o.inProject(a, args)
		return err
	}
	return a.CacheResult(func(a *command.App) (string, *scaffold.Plan, error) { return o.inProject(a, args) })
}

// checkAll validates the combination of --all and --only.
func (o *generate) checkAll() error {
	flags := o.cmd.Flags()
	switch {
	case !flags.Changed("all") || o.all != flags.Changed("only"):
		return nil
	case o.all:
		return fault.Usage("remove one of the flags", "--all runs all generators, and --only selects some of them")
	}
	return fault.Usage("add --only, as in --only crd,rbac", "--all=false selects no generators")
}

// checkArguments returns an error for a folder or a pattern of packages, which the go
// command accepts as an argument and controller-gen does not.
func checkArguments(args []string) error {
	for _, arg := range args {
		if strings.HasPrefix(arg, ".") || strings.HasPrefix(arg, "/") || strings.HasSuffix(arg, "/...") && !strings.Contains(arg, "=") {
			return fault.Usage("use paths="+arg+" or --paths "+arg, "unknown argument %q", arg)
		}
	}
	return nil
}

// inProject generates, and returns the project root and the plan.
func (o *generate) inProject(a *command.App, args []string) (root string, p *scaffold.Plan, err error) {
	plan := o.plan(a, args)
	o.HideKept = true // a file that the user changed is no news
	err = a.InProject(o.cmd, o.WriteFlags, func(ctx context.Context, s command.Project) error {
		root, p = s.Root, s.Plan
		if err := plan(ctx, s); err != nil {
			return o.decide(ctx, a, err)
		}
		return o.chooseTools(ctx, a, s)
	})
	return root, p, err
}

// plan returns the function that plans the output of the generators with these arguments.
func (o *generate) plan(a *command.App, args []string) func(context.Context, command.Project) error {
	return func(ctx context.Context, s command.Project) error {
		goOnly := o.watch || o.noCache || o.explain
		if a.HasCharts(s.Config) && goOnly {
			return fault.Usage("remove the flag", "--watch, --no-cache and --explain apply to Go projects, and this project installs charts")
		}
		if (a.HasHooks(s.Config) || a.HasModules(s.Config)) && goOnly {
			return fault.Usage("remove the flag", "--watch, --no-cache and --explain apply to Go projects, and this is a hook project")
		}
		inv, err := a.NewInvocation(ctx, s, o.options)
		if err != nil {
			return err
		}
		inv.NoCache = o.noCache
		return inv.GeneratePart(ctx, plugin.Event{
			Args: args, ManifestsOnly: o.manifests, Options: inv.Options, Whole: true, Compare: o.Check, Explain: o.explanation,
		})
	}
}
