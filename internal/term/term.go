// Package term detects terminals, decides about colour, and asks questions.
// Commands use it through their own small interfaces, so that tests can replace it.
package term

import (
	"io"
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether stream, a reader or a writer, is a terminal.
func IsTerminal(stream any) bool {
	f := fileOf(stream)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// fileOf returns the file of a stream: the stream itself, or the result of its
// File method, as for a writer that keeps a copy of its output. It returns nil
// for other streams.
func fileOf(stream any) *os.File {
	switch s := stream.(type) {
	case *os.File:
		return s
	case interface{ File() *os.File }:
		return s.File()
	}
	return nil
}

// Colour reports whether output to out is coloured: out is a terminal, NO_COLOR
// is empty or unset (no-color.org), and TERM is not dumb.
func Colour(out io.Writer, env func(string) string) bool {
	return IsTerminal(out) && env("NO_COLOR") == "" && env("TERM") != "dumb"
}
