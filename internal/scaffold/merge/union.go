package merge

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Union returns the lines that a and b have in common, and between them the lines
// that only one of them has. These are in the order in which they are in guide;
// lines that are missing there or occur more than once stay with the line before
// them.
func Union(a, b, guide []byte) []byte {
	from := lines(a)
	place := once(lines(withLineEnd(guide, "\n")))
	var all []string
	done := 0
	for _, c := range diff(from, lines(b)) {
		all = append(all, from[done:c.start]...)
		all = append(all, inOrder(place, from[c.start:c.end], c.lines)...)
		done = c.end
	}
	all = append(all, from[done:]...)
	var out bytes.Buffer
	for i, l := range all {
		out.WriteString(l)
		if i < len(all)-1 && !strings.HasSuffix(l, "\n") {
			out.WriteString("\n")
		}
	}
	return out.Bytes()
}

// inOrder joins two lists of lines, sorted by their places.
func inOrder(place map[string]int, sides ...[]string) []string {
	type placed struct {
		line string
		at   int
	}
	var all []placed
	for _, side := range sides {
		at := -1
		for _, l := range side { // lines before the first place go there, too
			if i, ok := place[l]; ok && i >= 0 {
				at = i
				break
			}
		}
		for _, l := range side {
			if i, ok := place[l]; ok && i >= 0 {
				at = i
			}
			all = append(all, placed{l, at})
		}
	}
	slices.SortStableFunc(all, func(x, y placed) int { return cmp.Compare(x.at, y.at) })
	joined := make([]string, len(all))
	for i, p := range all {
		joined[i] = p.line
	}
	return joined
}
