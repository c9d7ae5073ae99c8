package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/term"
	"github.com/operon-dev/operon/internal/watch"
	"github.com/spf13/cobra"
)

// The values of --output. Every report has the first two; some have more.
const (
	FormatText   = "text"
	FormatJSON   = "json"
	FormatGitHub = "github" // annotations, which GitHub Actions shows at the changed lines
)

var formats = []string{FormatText, FormatJSON}

// BindOutput adds the flag --output, -o for short, with more formats besides text and JSON.
func BindOutput(cmd *cobra.Command, format *string, more ...string) {
	all := slices.Concat(formats, more)
	last := len(all) - 1
	cmd.Flags().StringVarP(format, "output", "o", FormatText, "output format: "+strings.Join(all[:last], ", ")+" or "+all[last])
	CompleteValues(cmd, "output", all...)
}

// CheckOutput validates the value of that flag.
func CheckOutput(format string, more ...string) error {
	return CheckValue("output", format, slices.Concat(formats, more)...)
}

// CheckValue validates the value of a flag that has a list of valid values.
func CheckValue(flag, value string, valid ...string) error {
	if slices.Contains(valid, value) {
		return nil
	}
	return fault.Usage("valid values: "+strings.Join(valid, ", "), "unknown --%s %q", flag, value)
}

// apiVersion is the version of every JSON report.
const apiVersion = "operon.dev/v1"

// Frame is the first part of every JSON report. A report is a struct that embeds it first.
//
// The entries of a list are in items. Older reports also have the same list under another
// key, such as changes or findings. Keys and kinds are never renamed or removed, because
// scripts read them; new keys may be added. An empty list is [], not null.
type Frame struct {
	APIVersion string `json:"apiVersion"` // operon.dev/v1
	Kind       string `json:"kind"`       // of the report, such as Plan
	Command    string `json:"command"`    // without operon and without flags, such as "create api"
}

// NewFrame returns the frame of a report.
func NewFrame(command, kind string) Frame {
	return Frame{APIVersion: apiVersion, Kind: kind, Command: command}
}

// commandName returns the words of a command without "operon".
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// PrintJSON prints a report.
func PrintJSON(out io.Writer, report any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(report)
}

// IndentRest indents every line of text except the first.
func IndentRest(text, indent string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+indent)
}

// Plural returns a count with its noun, such as "2 hooks".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Files returns a number of files, such as "2 files".
func Files(n int) string { return Plural(n, "file") }

// Duration prints a time in milliseconds, or in seconds from ten seconds on.
func Duration(d time.Duration) string {
	if d >= 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// Painter returns a function that gives a text one of the colours of package term, for out, or returns it unchanged if out
// does not support colours.
func Painter(out io.Writer, env func(string) string) func(colour, text string) string {
	if !term.Colour(out, env) {
		return func(_, text string) string { return text }
	}
	return func(colour, text string) string { return colour + text + term.Plain }
}

// PrintTable prints rows on stdout, in aligned columns with two blanks between them.
// A table for people starts with a row of
// column names in capitals.
func (a *App) PrintTable(rows [][]string) error {
	var aligned strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = term.Line(cell, true)
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) // a Builder returns no error
	}
	_ = w.Flush()
	for line := range strings.Lines(aligned.String()) { // an empty last cell leaves blanks
		if err := a.Print(strings.TrimRight(line, " \n") + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// NotePlural says how to choose another plural for a new kind.
func (a *App) NotePlural(r project.Resource) {
	a.Notef("note: the plural of %s is %s; to choose another one, create the kind with --plural", r.Kind, r.PluralName())
}

// ChangedFiles names a few files that a watch of the working folder has reported, or counts many. It
// omits those that an editor removes when it saves another.
func (a *App) ChangedFiles(paths []string) string {
	const few = 3
	exist := slices.DeleteFunc(slices.Clone(paths), func(name string) bool {
		_, err := os.Lstat(a.Path(filepath.FromSlash(name)))
		return err != nil
	})
	if len(exist) > 0 {
		paths = exist
	}
	switch {
	case slices.Contains(paths, watch.Everything):
		return "many files"
	case len(paths) > few:
		return Files(len(paths))
	}
	return strings.Join(paths, ", ")
}
