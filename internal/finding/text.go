package finding

import "fmt"

// Paint colours a text with an ANSI colour code, or returns it unchanged if colours are off.
type Paint func(colour, text string) string

// ANSI colour codes.
const (
	red    = "31"
	yellow = "33"
	faint  = "2"
)

// Position returns the file, followed by the line and column if they are known.
func (f Finding) Position() string {
	switch {
	case f.Line == 0:
		return f.File
	case f.Column == 0:
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
}

// Text returns the finding as one line, without a line end. The rule is in brackets, as in the output of compilers.
func (f Finding) Text(paint Paint) string {
	colour := yellow
	if f.IsError() {
		colour = red
	}
	message := f.Message
	if f.Fix != "" {
		message += ": " + f.Fix
	}
	return fmt.Sprintf("%s: %s %s %s", f.Position(), paint(colour, f.Severity.String()+":"), message, paint(faint, "["+f.Rule+"]"))
}
