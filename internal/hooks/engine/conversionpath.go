package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/binding"
)

// rule is a conversion from one API version to another. The versions may lack their group.
type rule struct{ from, to string }

// withoutGroup returns a version without its group.
func withoutGroup(version string) string { return version[strings.IndexByte(version, '/')+1:] }

// conversionGraph finds sequences of conversions. Where the engine chooses one of several paths
// at random, the graph chooses the first by name.
type conversionGraph struct {
	rules []rule
	paths map[rule][]rule // the paths found so far
}

func (c *conversionGraph) add(r rule) {
	c.rules = append(c.rules, r)
	c.paths[r] = []rule{r}
}

// find returns the conversions that lead from one version to another, or nil.
func (c *conversionGraph) find(r rule) []rule {
	if !slices.ContainsFunc(c.rules, func(b rule) bool { return binding.SameVersion(r.to, b.to) }) {
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
	for _, known := range c.sorted() {
		if !binding.SameVersion(known.from, r.from) || withoutGroup(known.to) == withoutGroup(r.from) {
			continue
		}
		for _, next := range c.next(known.to) {
			extended := rule{r.from, next.to}
			if withoutGroup(extended.to) == withoutGroup(r.from) || c.known(extended) != nil || longer[extended] != nil {
				continue
			}
			longer[extended] = append(slices.Clone(c.paths[known]), next)
		}
	}
	return longer
}

// next returns the conversions from a version. Like the engine, it searches for the version
// without its group as a substring, so v1 also matches v1beta1.
func (c *conversionGraph) next(version string) []rule {
	var rules []rule
	for _, b := range c.rules {
		if b.from == version || strings.Contains(b.from, withoutGroup(version)) {
			rules = append(rules, b)
		}
	}
	return slices.CompactFunc(ordered(rules), func(a, b rule) bool { return a == b })
}

// known returns a path for r that was found before, or nil. It prefers a path with the exact
// versions, then a path that ends at the same version including the group.
func (c *conversionGraph) known(r rule) []rule {
	if path := c.paths[r]; path != nil {
		return path
	}
	var best []rule
	score := -1
	for _, candidate := range c.sorted() {
		if !binding.SameVersion(candidate.to, r.to) || !binding.SameVersion(candidate.from, r.from) {
			continue
		}
		s := 0
		if strings.Contains(r.to, "/") && candidate.to == r.to {
			s += 2
		}
		if strings.Contains(r.from, "/") && candidate.from == r.from {
			s++
		}
		if s > score {
			best, score = c.paths[candidate], s
		}
	}
	return best
}

func (c *conversionGraph) sorted() []rule { return ordered(slices.Collect(maps.Keys(c.paths))) }

func ordered(rules []rule) []rule {
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return rules
}
