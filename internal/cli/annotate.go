package cli

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/gen"
)

// github is the form of output that a workflow of GitHub Actions shows beside
// the lines of a change.
const github = "github"

// annotation is a workflow command of GitHub Actions that marks a place.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
type annotation struct {
	level        string // error or warning
	file         string // from the root of the repository, or empty
	line, column int    // from 1; 0: not known
	title        string
	message      string
}

// What may not stand in a workflow command as it is, as the package
// @actions/core escapes it.
var (
	escapeMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// String returns the command as one line.
func (a annotation) String() string {
	var properties []string
	add := func(name, value string) {
		properties = append(properties, name+"="+escapeProperty.Replace(value))
	}
	if a.file != "" {
		add("file", a.file)
	}
	if a.line > 0 {
		add("line", fmt.Sprint(a.line))
	}
	if a.column > 0 {
		add("col", fmt.Sprint(a.column))
	}
	add("title", a.title)
	return "::" + a.level + " " + strings.Join(properties, ",") + "::" + escapeMessage.Replace(a.message) + "\n"
}

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
func (a *App) annotate(root string, r report, found []difference) error {
	within := folderInRepository(root)
	var out strings.Builder
	for _, w := range r.plan.Warnings() {
		n := annotation{level: "warning", line: w.Line, column: w.Column, title: w.Rule, message: w.Message}
		if w.File != "" {
			n.file, n.message = path.Join(within, w.File), w.File+": "+w.Message
		}
		if w.Lines != "" {
			n.message += "\n" + w.Lines
		}
		out.WriteString(n.String())
	}
	for _, d := range found {
		n := annotation{level: "error", file: path.Join(within, d.Path), line: max(1, d.Line), title: "operon " + r.command + ": " + d.State}
		n.message = d.Path + " " + stateText[d.State]
		if d.Version != nil {
			n.message = d.Path + ": " + d.Version.String()
		}
		if d.Diff != "" {
			n.message += "\n" + d.Diff
		}
		out.WriteString(n.String())
	}
	_, err := io.WriteString(a.Out, out.String())
	return err
}

// annotateProblems prints the errors in the sources that keep a check from being
// done.
func (a *App) annotateProblems(root, command string, found gen.Problems) {
	within := folderInRepository(root)
	var out strings.Builder
	for _, p := range found {
		n := annotation{level: "error", title: "operon " + command, message: p.String()}
		if p.File != "" && !filepath.IsAbs(p.File) {
			n.file, n.line, n.column = path.Join(within, p.File), p.Line, p.Column
		}
		out.WriteString(n.String())
	}
	_, _ = io.WriteString(a.Out, out.String()) // the error itself follows on stderr
}

// folderInRepository is the path from the root of the git repository around dir
// to dir, with slashes; empty outside of one.
func folderInRepository(dir string) string {
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
