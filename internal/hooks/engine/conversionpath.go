package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/binding"
)

// rule is a conversion from one version to another, each with its group or without.
type rule struct{ from, to string }

func short(version string) string { return version[strings.IndexByte(version, '/')+1:] }

// chain finds ways of several conversions. Where the engine takes any of several
// ways, this takes the first by name.
type conversionGraph struct {
	base []rule
	ways map[rule][]rule // found so far
}

func (c *conversionGraph) add(r rule) {
	c.base = append(c.base, r)
	c.ways[r] = []rule{r}
}

// find returns the conversions that lead from one version to another, or nil.
func (c *conversionGraph) find(r rule) []rule {
	if !slices.ContainsFunc(c.base, func(b rule) bool { return binding.SameVersion(r.to, b.to) }) {
		return nil
	}
	for {
		if way := c.known(r); way != nil {
			return way
		}
		longer := c.extend(r)
		if len(longer) == 0 {
			return nil
		}
		maps.Copy(c.ways, longer)
	}
}

// extend finds ways that are one conversion longer than those known from where r
// begins.
func (c *conversionGraph) extend(r rule) map[rule][]rule {
	longer := map[rule][]rule{}
	for _, w := range c.sorted() {
		if !binding.SameVersion(w.from, r.from) || short(w.to) == short(r.from) {
			continue
		}
		for _, next := range c.next(w.to) {
			whole := rule{r.from, next.to}
			if short(whole.to) == short(r.from) || c.known(whole) != nil || longer[whole] != nil {
				continue
			}
			longer[whole] = append(slices.Clone(c.ways[w]), next)
		}
	}
	return longer
}

// next are the conversions that begin with a version. The engine looks for its
// name without the group within theirs, so that v1 is taken for v1beta1, too.
func (c *conversionGraph) next(version string) []rule {
	var rules []rule
	for _, b := range c.base {
		if b.from == version || strings.Contains(b.from, short(version)) {
			rules = append(rules, b)
		}
	}
	return slices.CompactFunc(ordered(rules), func(a, b rule) bool { return a == b })
}

// known is a way that was found for r: the one with its very versions, or else one
// whose versions meet them, that with the same version at its end first.
func (c *conversionGraph) known(r rule) []rule {
	if way := c.ways[r]; way != nil {
		return way
	}
	var best []rule
	score := -1
	for _, w := range c.sorted() {
		if !binding.SameVersion(w.to, r.to) || !binding.SameVersion(w.from, r.from) {
			continue
		}
		s := 0
		if strings.Contains(r.to, "/") && w.to == r.to {
			s += 2
		}
		if strings.Contains(r.from, "/") && w.from == r.from {
			s++
		}
		if s > score {
			best, score = c.ways[w], s
		}
	}
	return best
}

func (c *conversionGraph) sorted() []rule { return ordered(slices.Collect(maps.Keys(c.ways))) }

func ordered(rules []rule) []rule {
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return rules
}
