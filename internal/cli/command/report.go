package command

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/term"
)

// PlanReport is the report of a command that writes.
type PlanReport struct {
	command string
	plan    *scaffold.Plan
	diff    bool
	dryRun  bool
	applied bool
	objects any // see WriteFlags.Objects
	updates any // see WriteFlags.Updates

	findings any // see WriteFlags.Findings

	// These change only the text report.
	hideKept      bool // do not list kept files
	changesOnly   bool // print nothing if nothing changes
	quiet         bool // print diffs only
	conflictsOnly bool // list conflicts, and count the other changes
	noWarnings    bool
}

// Warnings returns the warnings of the plan.
func (r PlanReport) Warnings() []scaffold.Warning { return r.plan.Warnings() }

// WithoutWarnings returns the report without the warnings in the text, if hide is true.
func (r PlanReport) WithoutWarnings(hide bool) PlanReport {
	r.noWarnings = hide
	return r
}

// PrintPlan prints the report on stdout. Warnings are part of the JSON; as text they go
// to stderr. If generators print to stdout (output:stdout), the text report goes to
// stderr too.
func (a *App) PrintPlan(r PlanReport, output string) error {
	out := a.Out
	if text := r.plan.Printed(); len(text) > 0 && output == FormatText {
		if _, err := a.Out.Write(text); err != nil {
			return err
		}
		out = a.Err
	}
	if output == FormatJSON {
		return PrintJSON(a.Out, r.frame())
	}
	if !r.noWarnings {
		a.PrintWarnings(r.plan.Warnings())
	}
	if err := a.printTo(out, r.text(Painter(out, a.Getenv))); err != nil {
		return err
	}
	a.reportDeleted(r.plan.Deleted())
	if r.dryRun && len(r.plan.Conflicts()) == 0 && len(ChangesToApply(r.plan.Changes())) > 0 {
		a.Notef("dry run: nothing was written")
	}
	return nil
}

// reportDeleted says which files stay deleted.
func (a *App) reportDeleted(names []string) {
	if len(names) == 0 {
		return
	}
	list := strings.Join(names[:min(len(names), maxDeleted)], ", ")
	if n := len(names) - maxDeleted; n > 0 {
		list += fmt.Sprintf(" and %s more", Files(n))
	}
	a.Notef("note: files that you deleted stay deleted: %s; --restore PATH creates them again", list)
}

// maxDeleted limits how many deleted files a note names.
const maxDeleted = 5

// PrintWarnings prints warnings on stderr.
func (a *App) PrintWarnings(warnings []scaffold.Warning) {
	for _, w := range warnings {
		text := w.String()
		if w.Lines != "" {
			text += "\n" + w.Lines
		}
		a.Notef("%s %s", Painter(a.Err, a.Getenv)(term.Yellow, "warning:"), IndentRest(text, "\t"))
	}
}

func (r PlanReport) text(paint func(string, string) string) string {
	var out strings.Builder
	changes := r.plan.Changes()
	toApply := len(ChangesToApply(changes))
	for _, c := range changes {
		if c.Op == scaffold.Keep && r.hideKept || r.quiet && c.Op != scaffold.Conflict || c.Op != scaffold.Conflict && r.conflictsOnly {
			continue
		}
		fmt.Fprintf(&out, "%s %s\n", paint(opColour[c.Op], fmt.Sprintf("%-8s", c.Op)), term.Line(place(c), false))
	}
	switch {
	case r.conflictsOnly && toApply > 0:
		fmt.Fprintf(&out, "not written: %s\n", Plural(toApply, "other change"))
	case toApply == 0 && len(r.plan.Conflicts()) == 0 && !r.changesOnly && !r.quiet:
		out.WriteString("nothing to do\n")
	}
	if !r.diff {
		return out.String()
	}
	for _, c := range changes {
		if d := c.Diff(); d != "" && c.Op != scaffold.Keep {
			out.WriteString("\n" + ColourDiff(d, paint))
		}
	}
	return out.String()
}

// place names the file of a change, and for a move its old path.
func place(c scaffold.Change) string {
	if c.Op == scaffold.Move {
		return c.From + " -> " + c.Path
	}
	return c.Path
}

var opColour = map[scaffold.Op]string{
	scaffold.Create: term.Green, scaffold.Update: term.Yellow, scaffold.Move: term.Yellow,
	scaffold.Delete: term.Red, scaffold.Conflict: term.Red, scaffold.Keep: term.Faint,
}

// ColourDiff paints the lines of a unified diff.
func ColourDiff(diff string, paint func(string, string) string) string {
	lines := strings.SplitAfter(diff, "\n")
	for i, line := range lines {
		body := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(body, "+++"), strings.HasPrefix(body, "---"):
		case strings.HasPrefix(body, "+"):
			lines[i] = paint(term.Green, body) + line[len(body):]
		case strings.HasPrefix(body, "-"):
			lines[i] = paint(term.Red, body) + line[len(body):]
		}
	}
	return strings.Join(lines, "")
}

// ChangesToApply returns the changes that Plan.Apply writes.
func ChangesToApply(changes []scaffold.Change) []scaffold.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c scaffold.Change) bool {
		return c.Op == scaffold.Keep || c.Op == scaffold.Conflict
	})
}

// planFrame is the JSON form of a plan.
type planFrame struct {
	Frame
	Applied  bool           `json:"applied"`
	Output   string         `json:"output,omitempty"` // of the generators, for output:stdout
	Warnings []WarningFrame `json:"warnings"`
	Deleted  []string       `json:"deleted,omitempty"`  // files that the user deleted, and that stay deleted
	Objects  any            `json:"objects,omitempty"`  // where each object that the command read ended up
	Updates  any            `json:"updates,omitempty"`  // what the new versions of charts mean
	Findings any            `json:"findings,omitempty"` // what the command found in the sources
	Items    []changeFrame  `json:"items"`
}

type changeFrame struct {
	Path  string         `json:"path"`
	From  string         `json:"from,omitempty"` // of a move: the old path
	Class scaffold.Class `json:"class"`
	Op    scaffold.Op    `json:"op"`
	Mode  string         `json:"mode"` // octal permission bits, such as 0644
	Diff  string         `json:"diff,omitempty"`
}

// WarningFrame is the JSON form of a warning.
type WarningFrame struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Lines   string `json:"lines,omitempty"` // to add to the file by hand
}

func (r PlanReport) frame() planFrame {
	f := planFrame{
		Frame: NewFrame(r.command, "Plan"), Applied: r.applied,
		Items: []changeFrame{}, Warnings: warningFrames(r.plan), Output: string(r.plan.Printed()),
		Deleted: r.plan.Deleted(), Objects: r.objects, Updates: r.updates, Findings: r.findings,
	}
	for _, c := range r.plan.Changes() {
		cf := changeFrame{Path: c.Path, From: c.From, Class: c.Class, Op: c.Op, Mode: fmt.Sprintf("%04o", c.Mode&fs.ModePerm)}
		if r.diff {
			cf.Diff = c.Diff()
		}
		f.Items = append(f.Items, cf)
	}
	return f
}

func warningFrames(p *scaffold.Plan) []WarningFrame {
	list := []WarningFrame{}
	for _, w := range p.Warnings() {
		list = append(list, WarningFrame(w))
	}
	return list
}
