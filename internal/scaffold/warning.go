package scaffold

import (
	"fmt"
	"slices"
	"strings"
)

// Warning is information about a source file for the user. Line and Column
// start at 1; 0 means unknown. Message is one line. Lines holds the lines to
// add to the file by hand, indented for the file, or is empty.
type Warning struct {
	File    string
	Line    int
	Column  int
	Rule    string
	Message string
	Lines   string
}

// String returns the warning in the format of a compiler: file:line:column:
// message [rule]. It omits an unknown line or column, and the lines to add.
func (w Warning) String() string {
	place := w.File
	if w.Line > 0 {
		place += fmt.Sprintf(":%d", w.Line)
		if w.Column > 0 {
			place += fmt.Sprintf(":%d", w.Column)
		}
	}
	if place != "" {
		place += ": "
	}
	return place + w.Message + " [" + w.Rule + "]"
}

// Warn adds a warning. It ignores duplicates, and warnings of another rule whose lines an earlier one asks to
// add to the same file. Warnings of one rule can differ in where the lines belong.
func (p *Plan) Warn(w Warning) {
	said := func(earlier Warning) bool {
		return earlier == w || w.Lines != "" && earlier.File == w.File && earlier.Rule != w.Rule &&
			strings.Contains("\n"+earlier.Lines+"\n", "\n"+w.Lines+"\n")
	}
	if !slices.ContainsFunc(p.warnings, said) {
		p.warnings = append(p.warnings, w)
	}
}

// Warnings returns the warnings in the order in which they were added.
func (p *Plan) Warnings() []Warning { return slices.Clone(p.warnings) }

// Print adds to the result that the command prints on stdout, apart from files.
func (p *Plan) Print(text []byte) { p.printed.Write(text) }

// Printed returns the text added by Print.
func (p *Plan) Printed() []byte { return p.printed.Bytes() }
