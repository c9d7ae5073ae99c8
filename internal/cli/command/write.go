package command

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
	"github.com/spf13/cobra"
)

// WriteFlags are the flags of every command that writes.
type WriteFlags struct {
	DryRun bool
	Diff   bool
	Output string
	Force  bool // replace files that differ; only some commands have the flag
	Make   bool // generate afterwards; only create and edit have the flag

	Check        bool     // compare instead of writing; only commands that generate have the flag
	ExtraFormats []string // formats of this command besides text and JSON

	Restore     []string               // deleted files and folders to create again, relative to the project
	NoWait      bool                   // fail immediately if another command holds the lock
	HideKept    bool                   // do not list unchanged files in the text report
	Quiet       bool                   // print no text report but diffs
	ChangesOnly bool                   // print no text report if nothing changes
	Report      func(PlanReport) error // prints the report instead of PrintPlan
	Objects     func() any             // where each object that the command read ended up, for the JSON report
	Updates     func() any             // what the new versions of charts mean, for the JSON report
	Findings    func() any             // what the command found in the sources, for the JSON report
}

// Bind adds --dry-run, --diff, --restore and --output to cmd.
func (w *WriteFlags) Bind(cmd *cobra.Command) {
	w.BindDryRun(cmd, "show the changes without writing them")
	BindOutput(cmd, &w.Output, w.ExtraFormats...)
}

// BindDryRun is Bind without --output, for a command whose stdout belongs to another program.
func (w *WriteFlags) BindDryRun(cmd *cobra.Command, usage string) {
	w.Output = FormatText
	cmd.Flags().BoolVar(&w.DryRun, "dry-run", false, usage)
	cmd.Flags().BoolVar(&w.Diff, "diff", false, diffUsage)
	w.BindRestore(cmd)
}

const diffUsage = "show each change as a unified diff, without writing it"

// ImplyDryRun makes --diff of a command a dry run, unless --dry-run=false contradicts it.
func ImplyDryRun(cmd *cobra.Command, _ []string) {
	diff, dryRun := cmd.Flags().Lookup("diff"), cmd.Flags().Lookup("dry-run")
	if check, _ := cmd.Flags().GetBool("check"); check {
		return // writes nothing anyway
	}
	if diff != nil && dryRun != nil && diff.Value.String() == "true" && !dryRun.Changed {
		_ = dryRun.Value.Set("true") // a boolean
	}
}

// BindCheck adds --check to a command that generates, and the format in which GitHub shows
// differences. It comes before Bind. difference completes "exit with code 3 if".
func (w *WriteFlags) BindCheck(cmd *cobra.Command, difference string) {
	w.ExtraFormats = []string{FormatGitHub}
	cmd.Flags().BoolVar(&w.Check, "check", false, "write nothing, and exit with code 3 if "+difference)
}

// CheckCheck validates the combination of --check with other flags. --check is a dry run with
// its own report and exit code.
func (w *WriteFlags) CheckCheck(cmd *cobra.Command) error {
	switch {
	case !w.Check && w.Output == FormatGitHub:
		return fault.Usage("add --check, or use --output json", "--output github needs --check")
	case w.Check && cmd.Flags().Changed("dry-run"):
		return fault.Usage("remove --dry-run", "--check never writes files")
	}
	w.DryRun = w.DryRun || w.Check
	return nil
}

const restoreFlag = "restore"

// BindRestore adds --restore to cmd.
func (w *WriteFlags) BindRestore(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&w.Restore, restoreFlag, nil, "re-create a file or folder that you deleted; repeatable")
}

// BindForce adds --force to cmd.
func (w *WriteFlags) BindForce(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.Force, "force", false, "replace files that differ; the old content is kept in .operon/journal")
}

// BindMake adds --make to cmd. what names the files that the command generates.
func (w *WriteFlags) BindMake(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&w.Make, "make", true, "generate "+what+" afterwards")
}

// WritePlan is shared by all commands that write: it locks the project, lets build fill a
// plan, applies the plan atomically, and prints the report. If build asks the user, it is called again: see Ask.
func (a *App) WritePlan(cmd *cobra.Command, root string, w WriteFlags, build func(context.Context, *scaffold.Plan) error) error {
	if err := CheckOutput(w.Output, w.ExtraFormats...); err != nil {
		return err
	}
	return untilAnswered(cmd, func() error { return a.writePlan(cmd, root, w, build) })
}

func (a *App) writePlan(cmd *cobra.Command, root string, w WriteFlags, build func(context.Context, *scaffold.Plan) error) error {
	if err := project.CheckModuleFiles(root, a.Getenv("GOWORK")); err != nil {
		return err
	}
	unlock, err := a.lock(cmd.Context(), root, w.NoWait)
	if err != nil {
		return err
	}
	defer unlock()
	fsys := afero.NewBasePathFs(afero.NewOsFs(), root)
	if err := a.recover(fsys, w.DryRun); err != nil {
		return err
	}
	name := commandName(cmd)
	plan, err := scaffold.New(fsys, scaffold.Options{Force: w.Force, Restore: w.Restore, Command: name})
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	shown, done := a.ShowProgress(context.WithValue(ctx, locked{}, true))
	err = build(shown, plan)
	done()
	if _, asks := errors.AsType[*question](err); asks {
		return err
	}
	if err == nil {
		err = plan.Unreadable()
	}
	if err != nil {
		a.printProblems(root, name, w.Output, err)
		return err
	}
	r := w.report(name, plan)
	if w.Check {
		return a.printCheck(cmd, root, r, w.Output)
	}
	if len(plan.Conflicts()) > 0 {
		return a.refuseConflicts(cmd, r, w)
	}
	if !w.DryRun {
		if err := plan.Apply(ctx); err != nil {
			return err
		}
		r.applied = true
		a.changed = len(ChangesToApply(plan.Changes())) > 0
	}
	if w.Report != nil {
		return w.Report(r)
	}
	if err := a.PrintPlan(r, w.Output); err != nil {
		return a.reportError(r, err)
	}
	a.noteWorkflows(root, plan.Changes())
	if cmd.Flags().Lookup("make") != nil && !w.Make && !w.DryRun && len(ChangesToApply(plan.Changes())) > 0 {
		a.Notef("note: no files were generated (--make=false); run `operon generate`")
	}
	return nil
}

// report returns the report of a plan that is not applied yet.
func (w WriteFlags) report(command string, plan *scaffold.Plan) PlanReport {
	r := PlanReport{command: command, plan: plan, diff: w.Diff, dryRun: w.DryRun, hideKept: w.HideKept || w.ChangesOnly,
		changesOnly: w.ChangesOnly, quiet: w.Quiet && !w.DryRun}
	if w.Objects != nil {
		r.objects = w.Objects()
	}
	if w.Updates != nil {
		r.updates = w.Updates()
	}
	if w.Findings != nil {
		r.findings = w.Findings()
	}
	return r
}

// refuseConflicts reports a plan with conflicts, which is not applied. The text lists only
// the conflicts, unless the user asked for the whole plan.
func (a *App) refuseConflicts(cmd *cobra.Command, r PlanReport, w WriteFlags) error {
	r.conflictsOnly = !w.DryRun
	if err := a.PrintPlan(r, w.Output); err != nil {
		return err
	}
	flags := cmd.Flags()
	return conflictError(r.plan.Conflicts(), r.plan.HasBase, flags.Lookup("force") != nil, flags.Lookup(restoreFlag) != nil)
}

// conflictError is the error for files with conflicts. isEdited reports whether operon wrote a file before. force and
// restore report whether the command has these flags.
func conflictError(names []string, isEdited func(string) bool, force, restore bool) error {
	edited := slices.ContainsFunc(names, isEdited)
	allEdited := !slices.ContainsFunc(names, func(name string) bool { return !isEdited(name) })
	what, hint := "these files exist and differ", "move them away"
	if allEdited {
		what, hint = "new content overlaps with your edits", "take the new lines from --diff"
	}
	switch {
	case force:
		hint += ", or use --force to replace the files (the old content is kept in .operon/journal)"
	case allEdited && restore:
		hint += ", repeat the command, and apply your edits again; or move the files away and add --" + restoreFlag + " FILE"
	case edited && restore: // without it, a missing file counts as deleted by the user
		hint += ", then repeat the command with --" + restoreFlag + " FILE for each"
	default:
		hint += ", then repeat the command"
	}
	return fault.Differences(hint, "%s: %s", what, strings.Join(names, ", "))
}

// reportError returns the error of a command that cannot print its report.
func (a *App) reportError(r PlanReport, err error) error {
	f := &fault.Error{Code: fault.CodeFailed, Msg: "cannot print the report", Err: err}
	if r.applied && len(ChangesToApply(r.plan.Changes())) > 0 {
		f.Hint = "the changes are written; only the report is missing"
	}
	return f
}
