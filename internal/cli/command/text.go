package command

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/term"
)

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

// ANSI colours (ECMA-48, select graphic rendition).
const (
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Faint  = "2"
)

// Painter returns a function that colours text for out, or returns it unchanged if out
// does not support colours.
func Painter(out io.Writer, env func(string) string) func(colour, text string) string {
	if !term.Colour(out, env) {
		return func(_, text string) string { return text }
	}
	return func(colour, text string) string { return "\x1b[" + colour + "m" + text + "\x1b[0m" }
}

// PrintTable prints rows on stdout, in aligned columns with two blanks between them.
// Cells contain no tabs or line breaks. A table for people starts with a row of
// column names in capitals.
func (a *App) PrintTable(rows [][]string) error {
	var aligned strings.Builder
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t")) // a Builder returns no error
	}
	_ = w.Flush()
	for line := range strings.Lines(aligned.String()) { // an empty last cell leaves blanks
		if _, err := fmt.Fprintln(a.Out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// NotePlural says how to choose a plural other than that of a new kind.
func (a *App) NotePlural(r project.Resource) {
	a.Notef("note: the plural of %s is %s; to choose another one, create the kind with --plural", r.Kind, r.PluralName())
}
