package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
	"github.com/spf13/cobra"
)

// writeFlags are the flags of every command that writes.
type writeFlags struct {
	dryRun bool
	diff   bool
	output string
	force  bool // only create and edit commands have the flag

	check bool     // compare instead of writing; only commands that generate have the flag
	more  []string // forms of output that this command has beside the usual ones

	keepDeleted bool               // seeded files that the user deleted do not come back
	atOnce      bool               // do not wait for another command in the project
	noKeeps     bool               // the text report is about what changes alone
	changesOnly bool               // and is empty when nothing does
	show        func(report) error // what tells about the plan, instead of print
}

func (w *writeFlags) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&w.dryRun, "dry-run", false, "show the plan and write nothing")
	f.BoolVar(&w.diff, "diff", false, "also show each change as a unified diff")
	bindOutput(cmd, &w.output, w.more...)
}

// write runs the shared tail of every command that writes: lock the project,
// let build fill a plan, show it, and apply it all or nothing.
func (a *App) write(cmd *cobra.Command, root string, w writeFlags, build func(context.Context, *scaffold.Plan) error) error {
	if err := checkOutput(w.output, w.more...); err != nil {
		return err
	}
	unlock, err := a.lock(cmd.Context(), root, w.atOnce)
	if err != nil {
		return err
	}
	defer unlock()
	fsys := afero.NewBasePathFs(afero.NewOsFs(), root)
	if err := a.recover(fsys, w.dryRun); err != nil {
		return err
	}
	name := strings.TrimPrefix(cmd.CommandPath(), "operon ")
	plan, err := scaffold.New(fsys, scaffold.Options{Force: w.force, KeepDeleted: w.keepDeleted, Command: name})
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	shown, done := a.showProgress(ctx)
	err = build(shown, plan)
	done()
	if err != nil {
		a.printProblems(root, name, w.output, err)
		return err
	}
	r := report{command: name, plan: plan, diff: w.diff, dryRun: w.dryRun, noKeeps: w.noKeeps || w.changesOnly, changesOnly: w.changesOnly}
	if w.check {
		return a.check(cmd, root, r, w.output)
	}
	if paths := plan.Conflicts(); len(paths) > 0 {
		if err := a.print(r, w.output); err != nil {
			return err
		}
		hint := "move them away, then repeat the command"
		if cmd.Flags().Lookup("force") != nil {
			hint = "move them away, or use --force to replace them (the old content is kept in .operon/journal)"
		}
		return fault.Differences(hint, "these files exist and differ: %s", strings.Join(paths, ", "))
	}
	if !w.dryRun {
		if err := plan.Apply(ctx); err != nil {
			return err
		}
		r.applied = true
	}
	if w.show != nil {
		return w.show(r)
	}
	if err := a.print(r, w.output); err != nil {
		f := fault.Failed("", "the report cannot be printed")
		f.Err = err
		if r.applied && len(writes(plan.Changes())) > 0 {
			f.Hint = "the changes are written; only the report is missing"
		}
		return f
	}
	return nil
}

// recover puts back what a command left half-written when it was killed. A dry
// run writes nothing: scaffold.New then refuses the project.
func (a *App) recover(fsys afero.Fs, dryRun bool) error {
	if dryRun {
		return nil
	}
	done, err := scaffold.Recover(fsys)
	if done {
		a.onceNote("note: an earlier command was killed while it wrote; its changes were taken back")
	}
	return err
}

// session is an open project: its root folder, its decoded PROJECT, and the
// plan that a command fills.
type session struct {
	root string
	cfg  *project.Config
	plan *scaffold.Plan
}

// inProject runs write at the project root found upward from the working
// folder, and saves what build changed in the decoded PROJECT.
func (a *App) inProject(cmd *cobra.Command, w writeFlags, build func(context.Context, session) error) error {
	root, err := project.FindRoot(a.Dir)
	if err != nil {
		return err
	}
	return a.inRoot(cmd, root, w, build)
}

// inRoot is inProject where the root is known.
func (a *App) inRoot(cmd *cobra.Command, root string, w writeFlags, build func(context.Context, session) error) error {
	return a.write(cmd, root, w, func(ctx context.Context, p *scaffold.Plan) error {
		cfg, err := loadConfig(p)
		if err != nil {
			return err
		}
		if err := build(ctx, session{root: root, cfg: cfg, plan: p}); err != nil {
			return err
		}
		return saveConfig(cfg, p)
	})
}

// loadConfig decodes PROJECT as the plan sees it. The error wraps
// fs.ErrNotExist when there is none.
func loadConfig(p *scaffold.Plan) (*project.Config, error) {
	src, err := p.Read(project.File)
	if err != nil {
		return nil, err
	}
	return parseConfig(src)
}

// parseConfig decodes and checks PROJECT: its values go into files and names.
func parseConfig(src []byte) (*project.Config, error) {
	cfg, err := project.Parse(src)
	if err != nil {
		// It starts with line:column: together they are a place to jump to.
		return nil, &fault.Error{Code: fault.Code(err), Msg: project.File + ":" + err.Error(), Hint: fault.HintOf(err)}
	}
	if len(cfg.Layout) == 0 {
		return nil, fault.In(project.File, fault.Usage("it lists the plugins of the project, such as go.kubebuilder.io/v4", "the key layout is missing"))
	}
	if err := cfg.Validate(); err != nil {
		return nil, fault.In(project.File, err)
	}
	return cfg, nil
}

// readConfig decodes PROJECT outside of a plan, for questions and completion.
func (a *App) readConfig() (*project.Config, error) {
	root, err := project.FindRoot(a.Dir)
	if err != nil {
		return nil, err
	}
	src, err := os.ReadFile(filepath.Join(root, project.File))
	if err != nil {
		return nil, err
	}
	return parseConfig(src)
}

// saveConfig plans PROJECT: a new file, or edits of the one that is there.
func saveConfig(cfg *project.Config, p *scaffold.Plan) error {
	if p.Exists(project.File) {
		return p.Edit(project.File, cfg.Encode)
	}
	src, err := cfg.Encode(nil)
	if err != nil {
		return err
	}
	return p.Share(project.File, 0o644, src)
}

// warnUnknown says once which layout keys no plugin of operon answers to.
func warnUnknown(p *scaffold.Plan, unknown []string) {
	if len(unknown) > 0 {
		slices.Sort(unknown)
		p.Warn(scaffold.Warning{File: project.File, Rule: "unknown-plugin",
			Message: "kept, but operon has no plugin for " + strings.Join(unknown, ", ")})
	}
}
