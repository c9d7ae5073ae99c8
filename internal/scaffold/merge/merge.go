// Package merge joins two changed versions of one text: line by line, as diff3
// does. It is pure and knows neither files nor what the text means, so a clean
// merge says only that the two sides changed different places.
package merge

import (
	"bytes"
	"slices"
	"strings"
)

// The lines around the two sides of a conflict. Editors and git know the form.
const (
	markOurs   = "<<<<<<< yours"
	markMiddle = "======="
	markTheirs = ">>>>>>> operon"
)

// apart is how many common lines keep two conflicts apart. With fewer between
// them they are shown as one, which is easier to read (git does the same).
const apart = 4

// Text applies to ours what changed from base to theirs. A change that both
// sides made is made once. Where the sides changed the same lines, or lines
// without an unchanged line between them, to something different, clean is
// false and merged holds both versions between conflict markers: text to show to
// a person, as operon never writes markers into a file. A caller that only
// decides (scaffold.Decide) takes the file as it was and leaves merged aside.
//
// When ours has one kind of line end throughout, the other two are read as if
// they had it as well: a checkout with other line ends is not a change. A
// missing line end at the end of the text is a change like any other.
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

// merge walks the two lists of changes over one base. Changes that overlap or
// touch are one region, whose two versions are then compared.
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

// reach counts the changes at the head of list that overlap or touch a region
// that ends at hi, and moves hi behind them.
func reach(list []change, hi *int) int {
	n := 0
	for n < len(list) && list[n].start <= *hi {
		*hi = max(*hi, list[n].end)
		n++
	}
	return n
}

// replay returns the base lines from lo to hi with the changes made.
func (m *merger) replay(lo, hi int, changes []change) []string {
	var out []string
	for _, c := range changes {
		out = append(append(out, m.base[lo:c.start]...), c.lines...)
		lo = c.end
	}
	return append(out, m.base[lo:hi]...)
}

// conflict writes two versions of a region. What they have in common stands
// outside the markers, unless it is too short to be worth it.
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

// side writes one side of a conflict; the marker behind it starts a line.
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

// lines splits text behind each line feed.
func lines(text []byte) []string {
	return slices.Collect(strings.Lines(string(text)))
}

// lineEnd returns the line end that every line of text has, or "" when they
// differ or there is none.
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

// withLineEnd gives text the line end, unless its own differ among each other.
func withLineEnd(text []byte, end string) []byte {
	if own := lineEnd(text); own != "" && own != end {
		return bytes.ReplaceAll(text, []byte(own), []byte(end))
	}
	return text
}
