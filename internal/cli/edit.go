package cli

import (
	"context"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// editProject holds the flags of `operon edit`.
type editProject struct {
	writeFlags
	multigroup bool
	namespaced bool
	make       bool

	cmd     *cobra.Command
	options *options
}

func newEdit(a *App) *cobra.Command {
	o := &editProject{}
	cmd := &cobra.Command{
		Use:   "edit",
		Short: "Change the project's layout, scope or licence header",
		Long: `Change how a project is laid out, where its manager works, or what its Go files
start with, and do what follows from that: move packages and rewrite their
imports, tests and paths; limit the manager's cache, permissions and manifests
to namespaces, or open them; replace the header of every file that has it. What
you wrote stays, and every switch goes back again.

A manager that is limited watches its own namespace; the project's README tells
how to have it watch others. Webhooks that default or validate are still asked
about objects in the whole cluster, and these are refused while the manager is
away; the README has the patch that limits them as well.`,
		Example: `  # A folder for each API group: needed before a second group comes in
  operon edit --multigroup

  # A Role instead of a ClusterRole; the manager watches its own namespace
  operon edit --namespaced

  # And back
  operon edit --multigroup=false --namespaced=false

  # Another owner in the header of all Go files
  operon edit --owner "The Fleet Authors"`,
		Args: noArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.cmd = cmd
	f := cmd.Flags()
	f.BoolVar(&o.multigroup, "multigroup", false, "a folder for each API group")
	f.BoolVar(&o.namespaced, "namespaced", false, "limit the manager to namespaces, at first its own: Role instead of ClusterRole (webhooks are still asked about the whole cluster)")
	f.BoolVar(&o.make, "make", true, "also generate deepcopy methods, CRD and RBAC")
	f.BoolVar(&o.force, "force", false, "replace files that differ (the old content is kept in .operon/journal)")
	o.bind(cmd)
	o.options = bindOptions(cmd, a.Layouts.All(), plugin.Edit)
	return cmd
}

func (o *editProject) run(a *App) error {
	changed := o.cmd.Flags().Changed
	asked := changed("multigroup") || changed("namespaced")
	for name := range o.options.owners {
		asked = asked || changed(name)
	}
	if !asked {
		return fault.Usage("add --multigroup, --namespaced (or either with =false), --license, --license-file or --owner", "nothing to edit")
	}
	if cfg, err := a.readConfig(); err == nil && (ofHooks(cfg) || ofModules(cfg)) {
		if err := o.withoutGo(); err != nil {
			return err
		}
	}
	o.keepDeleted, o.noKeeps = true, true
	err := a.inProject(o.cmd, o.writeFlags, func(ctx context.Context, s session) error {
		before := s.cfg.Clone()
		if changed("multigroup") && o.multigroup != s.cfg.MultiGroup {
			s.cfg.SetMultiGroup(o.multigroup)
		}
		if changed("namespaced") {
			s.cfg.Namespaced = o.namespaced
		}
		if err := s.cfg.ValidateLayout(); err != nil {
			return err
		}
		return o.plan(ctx, a, s, before)
	})
	if err != nil || o.dryRun {
		return err
	}
	if !o.make {
		a.note("note: nothing was generated (--make=false); run `operon generate`")
	}
	return nil
}

// withoutGo refuses, in a project of hooks, what only changes Go.
func (o *editProject) withoutGo() error {
	changed := o.cmd.Flags().Changed
	switch {
	case changed("namespaced"):
		return fault.Usage("leave it out: hooks say themselves which namespaces they watch, and get no other permissions",
			"--namespaced is for managers in Go, and this project is of hooks")
	case changed("multigroup"):
		return fault.Usage("leave it out: kinds of several groups have room without it",
			"--multigroup is for types in Go, and this project is of hooks")
	}
	return nil
}

// plan sends the plugins the event, which is complete for any project. In one
// that operon started it then replays what made the project, as it is to be now:
// what the templates say of the switch in texts comes along, and what operon
// keeps for merges agrees with what its next command writes.
func (o *editProject) plan(ctx context.Context, a *App, s session, before *project.Config) error {
	t, err := a.team(s, o.options)
	if err != nil {
		return err
	}
	if err := a.readLicence(t.options); err != nil {
		return err
	}
	t.options["year"] = t.year
	started := s.plan.HasBase(everyInit)
	e := plugin.Event{Kind: plugin.Edit, Dir: t.root, Project: t.cfg, Before: before, Options: t.options}
	if err := t.active.Plan(ctx, e, t.plan); err != nil {
		return err
	}
	switched := before.MultiGroup != s.cfg.MultiGroup || before.Namespaced != s.cfg.Namespaced
	if !switched && len(s.plan.Changes()) == 0 {
		return nil
	}
	if started {
		init := plugin.Event{Kind: plugin.Init, Dir: t.root, Project: t.cfg, Options: map[string]any{"year": t.year}}
		if err := t.active.Plan(ctx, init, t.plan); err != nil {
			return err
		}
		if err := a.replay(ctx, t.root, t.cfg, t.plan); err != nil {
			return err
		}
	}
	if !o.make {
		return nil
	}
	return t.generate(ctx)
}
