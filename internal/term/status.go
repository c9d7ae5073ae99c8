package term

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Status is one line of a terminal that is rewritten in place. Clear it before
// other output. A nil Status shows nothing.
type Status struct {
	out    *os.File
	colour bool
	shown  bool
}

// NewStatus returns the status line of out, or nil if out is not a terminal or
// cannot erase a line (TERM is dumb).
func NewStatus(out io.Writer, env func(string) string) *Status {
	if !IsTerminal(out) || env("TERM") == "dumb" {
		return nil
	}
	return &Status{out: fileOf(out), colour: Colour(out, env)}
}

// Show replaces the line with text, truncated to the width of the terminal.
func (s *Status) Show(text string) {
	if s == nil {
		return
	}
	if width := Width(s.out); width > 0 {
		letters := []rune(text)
		text = string(letters[:min(len(letters), width-1)])
	}
	if s.colour {
		text = Faint + text + Plain
	}
	s.shown = true
	_, _ = s.out.WriteString("\r" + text + "\x1b[K") // one write, to avoid flicker
}

// Clear removes the line.
func (s *Status) Clear() {
	if s == nil || !s.shown {
		return
	}
	s.shown = false
	_, _ = s.out.WriteString("\r\x1b[K")
}

// Width returns the number of columns of a terminal, or 0 if out is not one.
func Width(out io.Writer) int {
	f := fileOf(out)
	if f == nil {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
