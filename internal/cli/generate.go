package cli

import (
	"cmp"
	"context"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

// generate holds the flags of `operon generate` and `operon manifests`.
type generate struct {
	writeFlags
	manifests bool // leave Go code alone
	all       bool
	watch     bool
	noCache   bool

	cmd     *cobra.Command
	options *options
}

func newGenerate(a *App) *cobra.Command {
	o := &generate{}
	o.cmd = &cobra.Command{
		Use:   "generate [argument...]",
		Short: "Generate deepcopy methods, CRDs, RBAC and webhook configuration",
		Long: `Generate everything that derives from the project's sources, from one load of
its packages. The output is byte for byte that of controller-gen with the same
arguments, which default to plugins["generate.operon.dev/v1"].args in PROJECT.
A generator among the arguments has the options that stand there and no others:
object alone writes no header. --only and --paths choose among the defaults.

In a project of hooks it derives the roles from them: they are run for their
configuration, and their sources are read. There the engine itself registers
webhooks when it starts, and the CRDs are yours to edit.
` + aboutCheck + aboutWatch + aboutCache,
		Example: `  operon generate
  operon generate --only crd,rbac
  operon generate crd:maxDescLen=0 paths=./api/... output:crd:dir=out
  operon generate --check --diff
  operon generate --watch`,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	o.cmd.Flags().BoolVar(&o.all, "all", true, "generate everything, which is the default; --only chooses")
	return o.build(a)
}

func newManifests(a *App) *cobra.Command {
	o := &generate{manifests: true}
	o.cmd = &cobra.Command{
		Use:   "manifests [argument...]",
		Short: "Generate CRDs, RBAC and webhook configuration",
		Long:  "Generate what `operon generate` does, except Go code.\n" + aboutCheck + aboutWatch,
		RunE:  func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	return o.build(a)
}

func (o *generate) build(a *App) *cobra.Command {
	o.more = []string{github}
	o.bind(o.cmd)
	o.cmd.Flags().BoolVar(&o.check, "check", false, "compare with what is there, write nothing, and exit with 3 when it differs")
	o.cmd.Flags().BoolVar(&o.noCache, "no-cache", false, "read everything anew, and keep nothing for the next time")
	o.cmd.Flags().BoolVar(&o.watch, "watch", false, "stay, and generate again on every save, until Ctrl-C")
	o.options = bindOptions(o.cmd, a.Layouts.All(), plugin.Generate)
	return o.cmd
}

func (o *generate) run(a *App, args []string) error {
	if o.cmd.Flags().Changed("all") && (!o.all || o.cmd.Flags().Changed("only")) {
		return fault.Usage("leave --all out", "--all means everything, and --only less")
	}
	if err := cmp.Or(o.checkWatch(), o.checkCheck()); err != nil {
		return err
	}
	if cfg, err := a.readConfig(); err == nil && ofHooks(cfg) && (o.watch || o.noCache) {
		return fault.Usage("leave it out", "--watch and --no-cache are for projects in Go, and this one is of hooks")
	}
	if o.watch {
		return o.keep(a, args)
	}
	if o.noCache || o.check { // what git has is not among the inputs of a plan
		_, _, err := o.inProject(a, args)
		return err
	}
	return a.remembering(func(a *App) (string, *scaffold.Plan, error) { return o.inProject(a, args) })
}

// inProject generates, and returns the root and the plan that it made.
func (o *generate) inProject(a *App, args []string) (root string, p *scaffold.Plan, err error) {
	plan := o.plan(a, args)
	err = a.inProject(o.cmd, o.writeFlags, func(ctx context.Context, s session) error {
		root, p = s.root, s.plan
		return plan(ctx, s)
	})
	return root, p, err
}

// plan returns what plans the output of the generators with these arguments.
func (o *generate) plan(a *App, args []string) func(context.Context, session) error {
	return func(ctx context.Context, s session) error {
		return a.generate(ctx, s, func(active plugin.Set) (map[string]any, error) {
			opts, err := o.options.given(active)
			if err != nil {
				return nil, err
			}
			opts["args"], opts["manifests"] = args, o.manifests
			if o.noCache {
				opts["cache"] = ""
			}
			return opts, nil
		})
	}
}

// generate plans what derives from the project's sources. given returns the
// options for the plugins of the project.
func (a *App) generate(ctx context.Context, s session, given func(plugin.Set) (map[string]any, error)) error {
	active, unknown, err := a.Layouts.Select(s.cfg.Layout)
	if err != nil {
		return err
	}
	warnUnknown(s.plan, unknown)
	opts, err := given(active)
	if err != nil {
		return err
	}
	if opts["this-year"], err = a.year(); err != nil {
		return err
	}
	if _, told := opts["cache"]; !told {
		if opts["cache"], err = a.cacheDir(); err != nil {
			return err
		}
	}
	opts["path"] = a.getenv("PATH")
	e := plugin.Event{Kind: plugin.Generate, Dir: s.root, Project: s.cfg, Options: opts}
	return active.Plan(ctx, e, s.plan)
}
