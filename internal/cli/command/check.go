package command

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/term"
	"github.com/spf13/cobra"
)

// The states of a file that --check reports.
const (
	missing   = "missing"
	differs   = "differs"
	stale     = "stale"
	untracked = "untracked"
)

var stateColour = map[string]string{missing: term.Green, differs: term.Yellow, stale: term.Red, untracked: term.Yellow}

// difference is a file that differs from the output of the generators.
type difference struct {
	Path    string         `json:"path"`
	State   string         `json:"state"`
	Line    int            `json:"line,omitempty"`    // of a file that differs: the first such line, from 1
	Version *versionChange `json:"version,omitempty"` // if nothing else differs
	Diff    string         `json:"diff,omitempty"`
	Ignored bool           `json:"ignored,omitempty"` // untracked, and named by a .gitignore
}

// versionChange holds the version of controller-tools in a file and the current one.
type versionChange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func (v versionChange) String() string {
	return fmt.Sprintf("only the version of the generator differs (%s -> %s)", v.From, v.To)
}

// differences returns the changes of the plan and the up-to-date files that are not in
// git, sorted by path.
func (a *App) differences(ctx context.Context, root string, r PlanReport) ([]difference, error) {
	found := []difference{}
	changed := map[string]bool{}
	for _, c := range r.plan.Changes() {
		if c.Op == scaffold.Keep {
			continue
		}
		changed[c.Path] = true
		d := difference{Path: c.Path}
		switch c.Op {
		case scaffold.Create:
			d.State = missing
		case scaffold.Delete:
			d.State = stale
		default:
			d.State, d.Line = differs, firstDifference(c.Before, c.After)
		}
		if from, to, only := controllertools.DifferOnlyInVersion(c.Before, c.After); only {
			d.Version = &versionChange{from, to}
		}
		if r.diff {
			d.Diff = c.Diff()
		}
		found = append(found, d)
	}
	current := slices.DeleteFunc(r.plan.Generated(), func(t scaffold.Target) bool { return changed[t.Path] })
	notInGit, err := a.untracked(ctx, root, current)
	ignored := a.ignored(ctx, root, notInGit)
	for _, name := range notInGit {
		found = append(found, difference{Path: name, State: untracked, Ignored: slices.Contains(ignored, name)})
	}
	slices.SortFunc(found, func(a, b difference) int { return strings.Compare(a.Path, b.Path) })
	return found, err
}

// firstDifference returns the number of the first line of before that differs from
// after. The end of the file belongs to the last line.
func firstDifference(before, after []byte) int {
	old, next := strings.SplitAfter(string(before), "\n"), strings.SplitAfter(string(after), "\n")
	i := 0
	for i < len(old)-1 && i < len(next) && old[i] == next[i] {
		i++
	}
	if i > 0 && old[i] == "" {
		i-- // the difference is after the last line
	}
	return i + 1
}

// repeatCommand returns the command line that writes the files that the check cmd compares.
func repeatCommand(cmd *cobra.Command) string {
	line := cmd.CommandPath()
	if cmd.Flags().Lookup("write") != nil {
		line += " --write"
	}
	words := append(cmd.Flags().Args(), ChangedFlags(cmd, "all", "check", "diff", "output", "write")...)
	if len(words) > 0 {
		line += " " + shellquote.Join(words...)
	}
	return line
}

// verdict returns the error of a check, or nil if nothing was found. repeat is the hint for
// files that differ.
func verdict(repeat string, found []difference) error {
	outdated := slices.DeleteFunc(slices.Clone(found), func(d difference) bool { return d.State == untracked })
	notInGit := len(found) - len(outdated)
	add := "add the untracked files to git"
	if i := slices.IndexFunc(found, func(d difference) bool { return d.Ignored }); i >= 0 {
		add += "; a .gitignore names " + found[i].Path + ": remove the line, or use git add --force"
	}
	switch {
	case len(found) == 0:
		return nil
	case len(outdated) == 0:
		return fault.Differences(add, "%s not in git", files(notInGit))
	case notInGit > 0:
		return fault.Differences(repeat+", and "+add, "%s not current, and %d not in git", files(len(outdated)), notInGit)
	}
	v := outdated[0].Version
	if v != nil && !slices.ContainsFunc(outdated, func(d difference) bool { return d.Version == nil || *d.Version != *v }) {
		return fault.Differences(repeat+", and use one version of operon everywhere, also in CI", "%s of controller-tools %s", files(len(outdated)), v.From)
	}
	return fault.Differences(repeat, "%s not current", files(len(outdated)))
}

func files(n int) string {
	if n == 1 {
		return "1 generated file is"
	}
	return fmt.Sprintf("%d generated files are", n)
}

// checkFrame is the JSON form of a check.
type checkFrame struct {
	Frame
	Warnings []WarningFrame `json:"warnings"`
	Items    []difference   `json:"items"`
}

// printCheck reports how the plan and the disk differ instead of applying the plan.
func (a *App) printCheck(cmd *cobra.Command, root string, r PlanReport, output string) error {
	if len(r.plan.Printed()) > 0 {
		return fault.Usage("remove --check, or use another output rule", "--check cannot compare output that goes to stdout")
	}
	found, err := a.differences(cmd.Context(), root, r)
	if err != nil {
		return err
	}
	switch output {
	case FormatJSON:
		err = PrintJSON(a.Out, checkFrame{NewFrame(r.command, "Check"), warningFrames(r.plan), found})
	case FormatGitHub:
		err = a.annotate(root, r, found)
	default:
		a.PrintWarnings(r.plan.Warnings())
		err = a.Print(checkText(found, Painter(a.Out, a.Getenv)))
	}
	if err != nil {
		return &fault.Error{Code: fault.CodeFailed, Msg: "cannot print the report", Err: err}
	}
	return verdict("run "+repeatCommand(cmd), found)
}

func checkText(found []difference, paint func(string, string) string) string {
	if len(found) == 0 {
		return "generated files are current\n"
	}
	var out, diffs strings.Builder
	for _, d := range found {
		fmt.Fprintf(&out, "%s %s", paint(stateColour[d.State], fmt.Sprintf("%-9s", d.State)), d.Path)
		if d.Version != nil {
			fmt.Fprintf(&out, ": %s", d.Version)
		}
		out.WriteString("\n")
		if d.Diff != "" {
			diffs.WriteString("\n" + ColourDiff(d.Diff, paint))
		}
	}
	return out.String() + diffs.String()
}

// stateText describes each state; annotate puts the path in front, because the log of a
// workflow shows messages without their position.
var stateText = map[string]string{
	missing:   "is missing",
	differs:   "is out of date",
	stale:     "is no longer generated",
	untracked: "is up to date, but not in git",
}

// annotate prints a check as annotations. A diff becomes part of the message, because a
// separate line of the diff could look like a workflow command.
func (a *App) annotate(root string, r PlanReport, found []difference) error {
	within := folderInRepository(root)
	var out strings.Builder
	for _, w := range r.plan.Warnings() {
		n := finding.Annotation{Severity: finding.Warning, Line: w.Line, Column: w.Column, Title: w.Rule, Message: w.Message}
		if w.File != "" {
			n.File, n.Message = path.Join(within, w.File), w.File+": "+w.Message
		}
		if w.Lines != "" {
			n.Message += "\n" + w.Lines
		}
		out.WriteString(n.String())
	}
	for _, d := range found {
		title := "operon " + r.command + ": " + d.State
		n := finding.Annotation{Severity: finding.Error, File: path.Join(within, d.Path), Line: max(1, d.Line), Title: title}
		n.Message = d.Path + " " + stateText[d.State]
		if d.Version != nil {
			n.Message = d.Path + ": " + d.Version.String()
		}
		if d.Diff != "" {
			n.Message += "\n" + d.Diff
		}
		out.WriteString(n.String())
	}
	return a.Print(out.String())
}
