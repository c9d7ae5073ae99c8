package merge

import (
	"slices"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// change replaces the lines from start to end of a text with lines. The changes
// in a list are in order, with at least one line between two of them.
type change struct {
	start, end int
	lines      []string
}

// diff returns the changes that turn a into b. It first matches lines that
// occur once on both sides (patience diff), because a function signature or a
// message identifies a place better than a closing brace does. It searches for
// the shortest edit script only between these matches, where the search is
// fast.
func diff(a, b []string) []change {
	var d differ
	d.match(a, b, 0, 0)
	d.flush(len(a), len(b))
	d.slide(a, b)
	list := make([]change, len(d.diffs))
	for i, e := range d.diffs {
		list[i] = change{e.Start, e.End, b[e.ReplStart:e.ReplEnd]}
	}
	return list
}

// differ collects differences in order. aEnd and bEnd are the ends of the last
// match.
type differ struct {
	diffs      []lcs.Diff
	aEnd, bEnd int
}

// equal records n matching lines that start at i and j.
func (d *differ) equal(i, j, n int) {
	if n == 0 {
		return
	}
	d.flush(i, j)
	d.aEnd, d.bEnd = i+n, j+n
}

// flush records the difference before i and j, if any.
func (d *differ) flush(i, j int) {
	if d.aEnd < i || d.bEnd < j {
		d.diffs = append(d.diffs, lcs.Diff{Start: d.aEnd, End: i, ReplStart: d.bEnd, ReplEnd: j})
		d.aEnd, d.bEnd = i, j
	}
}

// match records the matches between a and b, whose first lines have the numbers
// i and j in the whole texts.
func (d *differ) match(a, b []string, i, j int) {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	d.equal(i, j, n)
	a, b, i, j = a[n:], b[n:], i+n, j+n
	n = 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	tail := n
	a, b = a[:len(a)-n], b[:len(b)-n]
	pairs := unique(a, b)
	switch {
	case len(a) == 0 || len(b) == 0:
	case len(pairs) > 0:
		p := pair{-1, -1}
		for _, q := range append(pairs, pair{len(a), len(b)}) {
			d.match(a[p.a+1:q.a], b[p.b+1:q.b], i+p.a+1, j+p.b+1)
			if q.a < len(a) {
				d.equal(i+q.a, j+q.b, 1)
			}
			p = q
		}
	default:
		last := lcs.Diff{}
		for _, e := range append(lcs.DiffLines(a, b), lcs.Diff{Start: len(a), ReplStart: len(b)}) {
			d.equal(i+last.End, j+last.ReplEnd, e.Start-last.End)
			last = e
		}
	}
	d.equal(i+len(a), j+len(b), tail)
}

type pair struct{ a, b int }

// unique pairs the lines that occur exactly once in a and in b. It returns the
// longest list of pairs that is in order on both sides.
func unique(a, b []string) []pair {
	inA, inB := once(a), once(b)
	var pairs []pair
	for i, l := range a {
		if j, ok := inB[l]; ok && j >= 0 && inA[l] >= 0 {
			pairs = append(pairs, pair{i, j})
		}
	}
	return ascending(pairs)
}

// ascending returns the longest sublist of pairs that ascends in b. The pairs
// already ascend in a.
func ascending(pairs []pair) []pair {
	var ends []int // ends[k]: the pair with the smallest b that ends a list of k+1
	prev := make([]int, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(ends, p.b, func(e, b int) int { return pairs[e].b - b })
		if k > 0 {
			prev[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		}
		ends[k] = i
	}
	if len(ends) == 0 {
		return nil
	}
	list := make([]pair, len(ends))
	i := ends[len(ends)-1]
	for k := range slices.Backward(list) {
		list[k], i = pairs[i], prev[i]
	}
	return list
}

// once maps each line to its number, or to -1 if it occurs more than once.
func once(lines []string) map[string]int {
	m := make(map[string]int, len(lines))
	for i, l := range lines {
		if _, again := m[l]; again {
			i = -1
		}
		m[l] = i
	}
	return m
}

// slide moves pure insertions and deletions down as far as the text stays the
// same and the next change is not touched. Equal changes on two sides then have
// equal positions.
func (d *differ) slide(a, b []string) {
	limit := len(a)
	for k := range slices.Backward(d.diffs) {
		e := &d.diffs[k]
		for e.End < limit && (e.Start == e.End && b[e.ReplStart] == a[e.End] ||
			e.ReplStart == e.ReplEnd && a[e.Start] == a[e.End]) {
			*e = lcs.Diff{Start: e.Start + 1, End: e.End + 1, ReplStart: e.ReplStart + 1, ReplEnd: e.ReplEnd + 1}
		}
		limit = e.Start - 1
	}
}
