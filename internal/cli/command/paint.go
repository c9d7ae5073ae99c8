package command

import (
	"io"

	"github.com/operon-dev/operon/internal/term"
)

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
