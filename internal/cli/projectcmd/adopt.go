package projectcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/adopt"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/project/migrate"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

// adoptProject holds the flags of `operon adopt`.
type adoptProject struct {
	command.WriteFlags
	main       string
	domain     string
	name       string
	allowDirty bool
	dryRunMake bool
	yes        bool

	cmd     *cobra.Command
	source  []byte         // PROJECT, or nil
	next    []byte         // PROJECT in the schema version that operon reads
	report  *adopt.Report  // what the repository has
	printed []calls.Call   // by make, or nil
	made    map[string]any // the settings that record them
}

// NewAdopt returns the command adopt.
func NewAdopt(a *command.App) *cobra.Command {
	o := &adoptProject{}
	cmd := &cobra.Command{
		Use:   "adopt",
		Short: "Record an existing operator in PROJECT",
		Long: `Read the Go code of an operator that operon did not start, and record in PROJECT
what it has: module, API kinds, controllers, webhooks, the file that creates the
manager, and the folders for new code. Then operon create, generate and edit
work in it. The command writes PROJECT and .operon, and changes no other file.
It runs no code from the repository, except with --make-dry-run: if operon
cannot read the controller-gen calls in the Makefile, make -n prints them, and
PROJECT records their arguments.

The table says where each value comes from, and how sure operon is of it. An
existing PROJECT, also of kubebuilder v1 to v4 and of operator-sdk, is
completed and corrected; its comments and other keys stay.
docs/existing-projects.md has the details.`,
		Example: `  # Show what operon finds, and what PROJECT would become
  operon adopt --diff

  # Name the manager, if several programs of the repository make one
  operon adopt --main cmd/operator/main.go

  # Let make print the controller-gen calls of a Makefile that computes them
  operon adopt --make-dry-run`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&o.main, "main", "", "Go file that creates the manager, or none for a repository of API types alone")
	f.StringVar(&o.domain, "domain", "", "domain of new API groups (default: the domain in PROJECT, or what the groups have in common)")
	f.StringVar(&o.name, "project-name", "", "name of the project (default: the name in PROJECT, of its namespace or of its module)")
	f.BoolVar(&o.allowDirty, "allow-dirty", false, "change PROJECT even if it has uncommitted changes")
	f.BoolVar(&o.dryRunMake, "make-dry-run", false, "record the controller-gen calls that make -n prints")
	f.BoolVar(&o.yes, "yes", false, "allow make to run")
	f.BoolVar(&o.DryRun, "dry-run", false, "show the changes without writing them")
	f.BoolVar(&o.Diff, "diff", false, "show each change as a unified diff, without writing it")
	command.BindOutput(cmd, &o.Output)
	command.CompleteNothing(cmd, "domain", "project-name")
	return cmd
}

func (o *adoptProject) run(a *command.App) error {
	root := adoptRoot(a.Dir)
	if err := command.CheckOutput(o.Output); err != nil {
		return err
	}
	src, err := input.ReadFile(filepath.Join(root, project.File), input.Text)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Usage("restore it, or remove it", "%s: %v", project.File, fault.Reason(err))
	}
	if err := o.findOrAsk(a, root, src); err != nil {
		return err
	}
	if o.dryRunMake {
		if err := o.askMake(a, root); err != nil {
			return err
		}
		if err := o.find(a, root, src); err != nil {
			return err
		}
	}
	o.Findings = func() any { return o.report.Findings }
	o.Report = func(r command.PlanReport) error {
		if o.Output == command.FormatText {
			if err := a.PrintTable(findingRows(o.report.Findings)); err != nil {
				return err
			}
		}
		return a.PrintPlan(r, o.Output)
	}
	err = a.WritePlan(o.cmd, root, o.WriteFlags, func(ctx context.Context, p *scaffold.Plan) error { return o.plan(ctx, a, root, p) })
	if err != nil {
		return err
	}
	a.NextStep("operon generate --check")
	return nil
}

// adoptRoot returns the folder of PROJECT: the nearest folder with one or with a Go module, from dir upward.
func adoptRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range []string{project.File, "go.mod"} {
			if info, err := os.Stat(filepath.Join(at, name)); err == nil && info.Mode().IsRegular() {
				return at
			}
		}
		if filepath.Dir(at) == at {
			return dir // the error names the modules below it
		}
	}
}

// findOrAsk reads the repository. On a terminal, it asks for what the repository does not say.
func (o *adoptProject) findOrAsk(a *command.App, root string, src []byte) error {
	var answers []string
	for {
		err := o.find(a, root, src)
		q, isQuestion := errors.AsType[adopt.Question](err)
		if !isQuestion || a.Prompt == nil {
			if len(answers) > 0 && err == nil {
				a.Notef("equivalent command: %s %s", o.cmd.CommandPath(), strings.Join(append(command.ChangedFlags(o.cmd), answers...), " "))
			}
			return err
		}
		a.Notef("%s", q.Text)
		var value string
		if q.Flag == "domain" {
			value, err = a.Prompt.Input(o.cmd.Context(), "Domain of the API groups, such as example.org?", "", project.CheckDomain)
			o.domain = value
		} else {
			value, err = a.Prompt.Select(o.cmd.Context(), "Which file creates the manager of the operator?", q.Candidates, q.Candidates[0])
			o.main = value
		}
		if err != nil {
			return err
		}
		answers = append(answers, "--"+q.Flag+"="+value)
	}
}

// find reads the repository, whose PROJECT file has the content src.
func (o *adoptProject) find(a *command.App, root string, src []byte) error {
	o.source, o.next = src, nil
	if src != nil {
		read := func(name string) ([]byte, error) {
			return input.ReadFile(filepath.Join(root, filepath.FromSlash(name)), input.Text)
		}
		next, err := migrate.ToVersion3(src, read)
		if err != nil {
			return &fault.Error{Code: fault.Code(err), Msg: project.File + ":" + err.Error(), Hint: fault.HintOf(err)}
		}
		if err := checkAdoptable(a, next); err != nil {
			return err
		}
		o.next = next
	}
	var err error
	o.report, err = adopt.Find(input.Sources(root, input.Text), src, o.next, adopt.Options{
		Folder: filepath.Base(root), Main: o.main, Domain: o.domain, Name: o.name, Calls: o.printed,
	})
	return err
}

// checkAdoptable rejects projects without Go code.
func checkAdoptable(a *command.App, src []byte) error {
	cfg, err := project.Parse(src)
	if err != nil {
		return err
	}
	if err := plugin.CheckLayout(cfg.Layout); err != nil {
		return err
	}
	if !a.HasGo(cfg) {
		return fault.Usage("use its other commands as they are", "the layout of this project is %s; operon adopt is for operators in Go", strings.Join(cfg.Layout, ", "))
	}
	return nil
}

// plan plans PROJECT.
func (o *adoptProject) plan(ctx context.Context, a *command.App, root string, p *scaffold.Plan) error {
	src, err := p.Read(project.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(src, o.source) { // another command has changed it
		if err := o.find(a, root, src); err != nil {
			return err
		}
	}
	if o.made != nil {
		o.report.Config.SetPluginKey(request.ConfigKey, "args", o.made["args"])
		o.report.Config.SetPluginKey(request.ConfigKey, "calls", o.made["calls"])
	}
	if o.next != nil {
		correct := func([]byte) ([]byte, error) { return o.report.Config.EncodeCorrected(o.next) }
		if err := p.Edit(project.File, correct); err != nil {
			return err
		}
	}
	if len(command.ChangesToApply(p.Changes())) > 0 {
		o.report.Config.RecordVersion(command.Version())
	}
	if err := command.SaveConfig(o.report.Config, p); err != nil {
		return err
	}
	if err := o.findForeign(ctx, a, root, p); err != nil {
		return err
	}
	if o.DryRun || o.allowDirty || len(command.ChangesToApply(p.Changes())) == 0 {
		return nil
	}
	if why := a.Uncommitted(ctx, root, project.File); why != "" {
		return fault.Usage("commit it, so that git shows what adopt changes; or use --allow-dirty", "%s %s", project.File, why)
	}
	return nil
}

// findForeign adds the generated files to the report that have changes of other programs or people.
func (o *adoptProject) findForeign(ctx context.Context, a *command.App, root string, p *scaffold.Plan) error {
	var e plugin.Explanation
	inv, err := a.NewInvocation(ctx, command.Project{Root: root, Config: o.report.Config, Plan: p}, nil)
	if err == nil {
		inv.Environment.Environ = environ.With(inv.Environment.Environ, "GOPROXY=off") // adopt downloads nothing
		err = inv.GeneratePart(ctx, plugin.Event{Explain: &e, Whole: true})
	}
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o.report.Findings = append(o.report.Findings, adopt.Finding{
			What: "not compared", Value: "generated files", Confidence: adopt.Unknown, Note: command.FirstLine(err),
		})
		return nil
	}
	for _, f := range e.Foreign {
		o.report.Findings = append(o.report.Findings, adopt.Finding{What: "changed file", Value: f.Path, File: f.Path, Line: f.Line,
			Confidence: adopt.Certain, Note: f.Differs})
	}
	return nil
}

// maxRows limits how many findings of one type the table has.
const maxRows = 40

// findingRows returns the table of findings.
func findingRows(findings []adopt.Finding) [][]string {
	rows := [][]string{{"WHAT", "VALUE", "WHERE", "CONFIDENCE", "NOTE"}}
	count := map[string]int{}
	for i, f := range findings {
		if count[f.What]++; count[f.What] <= maxRows {
			rows = append(rows, []string{f.What, f.Value, f.Place(), string(f.Confidence), f.Note})
		}
		if last := i+1 == len(findings) || findings[i+1].What != f.What; last && count[f.What] > maxRows {
			rows = append(rows, []string{f.What, fmt.Sprintf("and %d more; --output json has all", count[f.What]-maxRows), "", "", ""})
		}
	}
	return rows
}
