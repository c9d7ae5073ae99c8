package rbac

import (
	"bytes"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// hashComments matches the first line of a script whose comments start with #.
var hashComments = lazyregexp.New(`^#!.*\b(?:(?:ba|da|a|k|z)?sh|python[0-9.]*|ruby|perl)\b`)

// HasMarkers reports whether a file is in a language in which markers are comments.
func HasMarkers(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return hashComments().Match(first)
}

// InsertMarkers adds lines with markers to a script, below its last marker, or else below the comment at its head. It
// leaves out those that the script has.
func InsertMarkers(text []byte, markers []string) []byte {
	lines := slices.Collect(bytes.Lines(text))
	var present []string
	at, indent := headOf(lines), ""
	for _, c := range commentsOf(text) {
		if _, correct := c.isRBAC(); correct {
			at, indent = c.line, indentOf(lines[c.line-1])
			present = append(present, "# "+c.text)
		}
	}
	end := "\n"
	if len(lines) > 0 && bytes.HasSuffix(lines[0], []byte("\r\n")) {
		end = "\r\n"
	}
	var added strings.Builder
	for _, m := range markers {
		if !slices.Contains(present, m) {
			added.WriteString(indent + m + end)
		}
	}
	before, after := bytes.Join(lines[:at], nil), bytes.Join(lines[at:], nil)
	if added.Len() > 0 && len(before) > 0 && before[len(before)-1] != '\n' {
		before = append(before, end...)
	}
	return slices.Concat(before, []byte(added.String()), after)
}

// headOf returns the number of lines of the comment at the head of a script.
func headOf(lines [][]byte) int {
	n := 0
	for n < len(lines) && bytes.HasPrefix(lines[n], []byte("#")) {
		n++
	}
	return n
}

func indentOf(line []byte) string {
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}
