package command

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/gen"
)

// stateText says of a file what its state means. The log of a workflow shows a
// message without its place, so it names the file.
var stateText = map[string]string{
	missing:   "is generated, but it is not there",
	differs:   "differs from what is generated",
	stale:     "is there, but nothing generates it any more",
	untracked: "is right, but not in git",
}

// annotate prints a check as annotations. A diff becomes a part of the message:
// as lines of its own it could hold something that the workflow takes for a
// command.
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

// annotateProblems prints the errors in the sources that keep a check from being
// done.
func (a *App) annotateProblems(root, command string, found gen.Problems) {
	within := FolderInRepository(root)
	var out strings.Builder
	for _, p := range found {
		n := finding.Annotation{Severity: finding.Error, Title: "operon " + command, Message: p.String()}
		if p.File != "" && !filepath.IsAbs(p.File) {
			n.File, n.Line, n.Column = path.Join(within, p.File), p.Line, p.Column
		}
		out.WriteString(n.String())
	}
	_, _ = io.WriteString(a.Out, out.String()) // the error itself follows on stderr
}

// FolderInRepository is the path from the root of the git repository around dir
// to dir, with slashes; empty outside of one.
func FolderInRepository(dir string) string {
	for top := dir; ; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil { // a file, in a worktree
			rel, _ := filepath.Rel(top, dir) // both are absolute
			return filepath.ToSlash(rel)
		}
		if top == filepath.Dir(top) {
			return ""
		}
	}
}
