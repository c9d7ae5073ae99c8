package merge

import (
	"slices"
	"strings"
)

// Union returns what a text would be if the changes that led to a and those that led to b
// had been made in one place. Their common ancestor is unknown; guide is a later version
// that has the lines of both in order, perhaps with changes of its own: the file of a user
// who merged two branches. The result has the lines of guide that are in a or b, and at
// their places the lines of a and b that guide lacks. A line that both lack is not in it.
//
// Without a guide, everything that differs in b follows what differs in a.
func Union(a, b, guide []byte) []byte {
	from, other := lines(a), lines(b)
	if guide == nil {
		return join(around(from, other))
	}
	to := lines(withLineEnd(guide, "\n"))
	inA, inB := diff(to, from), diff(to, other)
	var all []string
	for i := range len(to) + 1 {
		addedA, keptA := at(inA, i)
		addedB, keptB := at(inB, i)
		all = append(all, addedA...)
		if !slices.Equal(addedA, addedB) {
			all = append(all, addedB...)
		}
		if i < len(to) && (keptA || keptB) {
			all = append(all, to[i])
		}
	}
	return join(all)
}

// at returns the lines that changes add before line i, and whether they keep line i. Lines
// that replace others go after these.
func at(changes []change, i int) (added []string, kept bool) {
	kept = true
	for _, c := range changes {
		if c.end == i {
			added = c.lines
		}
		kept = kept && (i < c.start || c.end <= i)
	}
	return added, kept
}

// around returns the lines that both texts start with, the others of a, the others of b,
// and the lines that both end with.
func around(a, b []string) []string {
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return slices.Concat(a[:len(a)-tail], b[head:len(b)-tail], a[len(a)-tail:])
}

// join returns lines as a text. Each but the last one ends with a line break.
func join(lines []string) []byte {
	var out strings.Builder
	for i, l := range lines {
		out.WriteString(l)
		if i < len(lines)-1 && !strings.HasSuffix(l, "\n") {
			out.WriteString("\n")
		}
	}
	return []byte(out.String())
}
