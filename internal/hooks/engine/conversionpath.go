package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/binding"
)

// rule is a conversion from one API version to another. The versions may lack their
// group.
type rule struct{ from, to string }

// short returns a version without its group.
func short(version string) string { return version[strings.IndexByte(version, '/')+1:] }

// conversionGraph finds paths of several conversions. Where the engine picks any of
// several paths, the graph picks the first by name.
type conversionGraph struct {
	base  []rule
	paths map[rule][]rule // those found so far
}

func (c *conversionGraph) add(r rule) {
	c.base = append(c.base, r)
	c.paths[r] = []rule{r}
}

// find returns the conversions that lead from one version to another, or nil.
func (c *conversionGraph) find(r rule) []rule {
	if !slices.ContainsFunc(c.base, func(b rule) bool { return binding.SameVersion(r.to, b.to) }) {
		return nil
	}
	for {
		if path := c.known(r); path != nil {
			return path
		}
		longer := c.extend(r)
		if len(longer) == 0 {
			return nil
		}
		maps.Copy(c.paths, longer)
	}
}

// extend returns paths from r.from that are one conversion longer than the known ones.
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
			longer[whole] = append(slices.Clone(c.paths[w]), next)
		}
	}
	return longer
}

// next returns the conversions that start at a version. Like the engine, it searches for
// the version without its group as a substring, so v1 also matches v1beta1.
func (c *conversionGraph) next(version string) []rule {
	var rules []rule
	for _, b := range c.base {
		if b.from == version || strings.Contains(b.from, short(version)) {
			rules = append(rules, b)
		}
	}
	return slices.CompactFunc(ordered(rules), func(a, b rule) bool { return a == b })
}

// known returns a path found for r. It prefers the exact versions, then a path that ends
// at the same version including the group.
func (c *conversionGraph) known(r rule) []rule {
	if path := c.paths[r]; path != nil {
		return path
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
			best, score = c.paths[w], s
		}
	}
	return best
}

func (c *conversionGraph) sorted() []rule { return ordered(slices.Collect(maps.Keys(c.paths))) }

func ordered(rules []rule) []rule {
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return rules
}
