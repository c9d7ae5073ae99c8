package command

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/spf13/cobra"
)

// checkFrame is the JSON form of a check.
type checkFrame struct {
	Frame
	Differences []difference   `json:"differences"`
	Warnings    []WarningFrame `json:"warnings"`
	Items       []difference   `json:"items"`
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
		err = PrintJSON(a.Out, checkFrame{NewFrame(r.command, "Check"), found, warningFrames(r.plan), found})
	case FormatGitHub:
		err = a.annotate(root, r, found)
	default:
		a.PrintWarnings(r.plan.Warnings())
		_, err = io.WriteString(a.Out, checkText(found, Painter(a.Out, a.Getenv)))
	}
	if err != nil {
		f := fault.Failed("", "cannot print the report")
		f.Err = err
		return f
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
	within := FolderInRepository(root)
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
		n := finding.Annotation{Severity: finding.Error, File: path.Join(within, d.Path), Line: max(1, d.Line), Title: "operon " + r.command + ": " + d.State}
		n.Message = d.Path + " " + stateText[d.State]
		if d.Version != nil {
			n.Message = d.Path + ": " + d.Version.String()
		}
		if d.Diff != "" {
			n.Message += "\n" + d.Diff
		}
		out.WriteString(n.String())
	}
	_, err := io.WriteString(a.Out, out.String())
	return err
}
