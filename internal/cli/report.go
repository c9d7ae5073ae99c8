package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
)

// apiVersion is the version of every JSON report.
const apiVersion = "operon.dev/v1"

// forms are those that every report has; some have more.
var forms = []string{"text", "json"}

// bindOutput adds the flag that chooses the form of a report.
func bindOutput(cmd *cobra.Command, form *string, more ...string) {
	all := slices.Concat(forms, more)
	last := len(all) - 1
	cmd.Flags().StringVar(form, "output", forms[0], "form of the report: "+strings.Join(all[:last], ", ")+" or "+all[last])
	completeValues(cmd, "output", all...)
}

// checkOutput checks the value of that flag.
func checkOutput(form string, more ...string) error {
	all := slices.Concat(forms, more)
	if slices.Contains(all, form) {
		return nil
	}
	return fault.Usage("valid values: "+strings.Join(all, ", "), "unknown --output %q", form)
}

// report is what a writing command has to tell.
type report struct {
	command string
	plan    *scaffold.Plan
	diff    bool
	dryRun  bool
	applied bool
	noKeeps bool // as text, do not list the files that stay as the user has them
	// as text, say nothing when nothing changes
	changesOnly bool
}

// print shows the report on stdout as text or json. Warnings belong to the
// JSON, and go to stderr as text. Where the plan itself has a text to print,
// that is the result, and the report only accompanies it.
func (a *App) print(r report, output string) error {
	out := a.Out
	if text := r.plan.Printed(); len(text) > 0 && output == "text" {
		if _, err := a.Out.Write(text); err != nil {
			return err
		}
		out = a.Err
	}
	if output == "json" {
		return printJSON(a.Out, r.frame())
	}
	a.warn(r.plan.Warnings())
	if _, err := io.WriteString(out, r.text(painter(out, a.getenv))); err != nil {
		return err
	}
	if r.dryRun && len(r.plan.Conflicts()) == 0 && len(writes(r.plan.Changes())) > 0 {
		a.note("dry run: nothing was written")
	}
	return nil
}

// warn prints warnings for a person.
func (a *App) warn(warnings []scaffold.Warning) {
	for _, w := range warnings {
		text := w.String()
		if w.Lines != "" {
			text += "\n" + w.Lines
		}
		a.note("%s %s", painter(a.Err, a.getenv)(yellow, "warning:"), indentRest(text, "\t"))
	}
}

func (r report) text(paint func(string, string) string) string {
	var out strings.Builder
	changes := r.plan.Changes()
	for _, c := range changes {
		if c.Op == scaffold.Keep && r.noKeeps {
			continue
		}
		fmt.Fprintf(&out, "%s %s\n", paint(opColour[c.Op], fmt.Sprintf("%-8s", c.Op)), place(c))
	}
	if len(writes(changes)) == 0 && len(r.plan.Conflicts()) == 0 && !r.changesOnly {
		out.WriteString("nothing to do\n")
	}
	if !r.diff {
		return out.String()
	}
	for _, c := range changes {
		if d := c.Diff(); d != "" && c.Op != scaffold.Keep {
			out.WriteString("\n" + colourDiff(d, paint))
		}
	}
	return out.String()
}

// place names the file of a change, and where it comes from.
func place(c scaffold.Change) string {
	if c.Op == scaffold.Move {
		return c.From + " -> " + c.Path
	}
	return c.Path
}

var opColour = map[scaffold.Op]string{
	scaffold.Create: green, scaffold.Update: yellow, scaffold.Move: yellow, scaffold.Delete: red, scaffold.Conflict: red, scaffold.Keep: faint,
}

func colourDiff(diff string, paint func(string, string) string) string {
	lines := strings.SplitAfter(diff, "\n")
	for i, line := range lines {
		body := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(body, "+++"), strings.HasPrefix(body, "---"):
		case strings.HasPrefix(body, "+"):
			lines[i] = paint(green, body) + line[len(body):]
		case strings.HasPrefix(body, "-"):
			lines[i] = paint(red, body) + line[len(body):]
		}
	}
	return strings.Join(lines, "")
}

// writes returns the changes that Apply carries out.
func writes(changes []scaffold.Change) []scaffold.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c scaffold.Change) bool {
		return c.Op == scaffold.Keep || c.Op == scaffold.Conflict
	})
}

// planFrame is the JSON form of a plan.
type planFrame struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Command    string         `json:"command"`
	Applied    bool           `json:"applied"`
	Changes    []changeFrame  `json:"changes"`
	Output     string         `json:"output,omitempty"` // what output:stdout asked for
	Warnings   []warningFrame `json:"warnings"`
}

type changeFrame struct {
	Path  string         `json:"path"`
	From  string         `json:"from,omitempty"` // of a move: where the file stood
	Class scaffold.Class `json:"class"`
	Op    scaffold.Op    `json:"op"`
	Mode  string         `json:"mode"` // octal permission bits, such as 0644
	Diff  string         `json:"diff,omitempty"`
}

type warningFrame struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Lines   string `json:"lines,omitempty"` // to add to the file by hand
}

func (r report) frame() planFrame {
	f := planFrame{
		APIVersion: apiVersion, Kind: "Plan", Command: r.command, Applied: r.applied,
		Changes: []changeFrame{}, Warnings: warningFrames(r.plan), Output: string(r.plan.Printed()),
	}
	for _, c := range r.plan.Changes() {
		cf := changeFrame{Path: c.Path, From: c.From, Class: c.Class, Op: c.Op, Mode: fmt.Sprintf("%04o", c.Mode&fs.ModePerm)}
		if r.diff {
			cf.Diff = c.Diff()
		}
		f.Changes = append(f.Changes, cf)
	}
	return f
}

func warningFrames(p *scaffold.Plan) []warningFrame {
	list := []warningFrame{}
	for _, w := range p.Warnings() {
		list = append(list, warningFrame(w))
	}
	return list
}

func printJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
