// Package merge merges two changed versions of a text line by line, like diff3.
// It does not know the meaning of the text: a clean merge only means that the two
// sides changed different places.
package merge

import (
	"bytes"
	"slices"
	"strings"
)

// These lines delimit the two sides of a conflict, in the format of git.
const (
	markOurs   = "<<<<<<< yours"
	markMiddle = "======="
	markTheirs = ">>>>>>> operon"
)

// apart is the minimum number of common lines between two conflicts. Conflicts
// that are closer are shown as one, which is easier to read; git does the same.
const apart = 4

// Text applies the changes from base to theirs to ours. A change that both
// sides made is applied once. If the sides changed the same or adjacent lines
// in different ways, clean is false and merged has both versions between
// conflict markers, for display only: operon never writes markers into a file.
// A caller that only decides (scaffold.Decide) ignores merged and keeps the
// file.
//
// If all lines of ours have the same line ending, base and theirs are converted
// to it first: a checkout with other line endings is not a change. A missing
// newline at the end of the text is a change like any other.
func Text(base, ours, theirs []byte) (merged []byte, clean bool) {
	switch {
	case bytes.Equal(base, ours), bytes.Equal(ours, theirs):
		return bytes.Clone(theirs), true
	case bytes.Equal(base, theirs):
		return bytes.Clone(ours), true
	}
	eol := "\n"
	if end := lineEnd(ours); end != "" {
		eol, base, theirs = end, withLineEnd(base, end), withLineEnd(theirs, end)
	}
	m := merger{base: lines(base), eol: eol, clean: true}
	m.merge(diff(m.base, lines(ours)), diff(m.base, lines(theirs)))
	return m.out.Bytes(), m.clean
}

type merger struct {
	base  []string
	eol   string
	out   bytes.Buffer
	clean bool
}

// merge walks both lists of changes. Changes that overlap or touch form one
// region, whose two versions are compared.
func (m *merger) merge(ours, theirs []change) {
	done := 0
	for len(ours) > 0 || len(theirs) > 0 {
		lo := len(m.base)
		for _, list := range [][]change{ours, theirs} {
			if len(list) > 0 {
				lo = min(lo, list[0].start)
			}
		}
		m.write(m.base[done:lo])
		hi, nOurs, nTheirs := lo, 0, 0
		for grown := true; grown; {
			i, j := reach(ours[nOurs:], &hi), reach(theirs[nTheirs:], &hi)
			nOurs, nTheirs = nOurs+i, nTheirs+j
			grown = i+j > 0
		}
		x, y := m.replay(lo, hi, ours[:nOurs]), m.replay(lo, hi, theirs[:nTheirs])
		switch {
		case nTheirs == 0 || slices.Equal(x, y):
			m.write(x)
		case nOurs == 0:
			m.write(y)
		default:
			m.conflict(x, y)
		}
		ours, theirs, done = ours[nOurs:], theirs[nTheirs:], hi
	}
	m.write(m.base[done:])
}

// reach counts the changes at the start of list that overlap or touch a region
// that ends at hi, and moves hi to their end.
func reach(list []change, hi *int) int {
	n := 0
	for n < len(list) && list[n].start <= *hi {
		*hi = max(*hi, list[n].end)
		n++
	}
	return n
}

// replay returns the base lines from lo to hi with the changes applied.
func (m *merger) replay(lo, hi int, changes []change) []string {
	var out []string
	for _, c := range changes {
		out = append(append(out, m.base[lo:c.start]...), c.lines...)
		lo = c.end
	}
	return append(out, m.base[lo:hi]...)
}

// conflict writes the two versions of a region. Common lines go outside the
// markers, unless there are fewer than apart.
func (m *merger) conflict(x, y []string) {
	m.clean = false
	hunks := diff(x, y)
	done, shift := 0, 0 // shift: how far y is ahead of x
	for len(hunks) > 0 {
		n := 1
		for n < len(hunks) && hunks[n].start-hunks[n-1].end < apart {
			n++
		}
		start, end, grow := hunks[0].start, hunks[n-1].end, 0
		for _, h := range hunks[:n] {
			grow += len(h.lines) - (h.end - h.start)
		}
		m.write(x[done:start])
		m.write([]string{markOurs + m.eol})
		m.side(x[start:end])
		m.write([]string{markMiddle + m.eol})
		m.side(y[start+shift : end+shift+grow])
		m.write([]string{markTheirs + m.eol})
		hunks, done, shift = hunks[n:], end, shift+grow
	}
	m.write(x[done:])
}

// side writes one side of a conflict, so that the next marker starts on a new
// line.
func (m *merger) side(lines []string) {
	m.write(lines)
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		m.out.WriteString(m.eol)
	}
}

func (m *merger) write(lines []string) {
	for _, l := range lines {
		m.out.WriteString(l)
	}
}

// lines splits text after each newline.
func lines(text []byte) []string {
	return slices.Collect(strings.Lines(string(text)))
}

// lineEnd returns the line ending of all lines of text, or "" if the endings
// differ or there are none.
func lineEnd(text []byte) string {
	lf, crlf := bytes.Count(text, []byte("\n")), bytes.Count(text, []byte("\r\n"))
	switch {
	case lf == 0:
		return ""
	case crlf == lf:
		return "\r\n"
	case crlf == 0:
		return "\n"
	}
	return ""
}

// withLineEnd converts text to a line ending, unless the endings of text
// differ.
func withLineEnd(text []byte, end string) []byte {
	if own := lineEnd(text); own != "" && own != end {
		return bytes.ReplaceAll(text, []byte(own), []byte(end))
	}
	return text
}
