package convert

import "strings"

// pair is a local type of one version and the type of the other version that it is converted
// to.
type pair struct {
	Helper
	missing bool // no conversion can be generated
	known   bool // the package already has the function
	listed  bool
}

// helper returns the name of the function that converts between two local types.
func (c *converter) helper(to, from *goType) (string, bool) {
	key := from.identity() + " " + to.identity()
	if p := c.pairs[key]; p != nil {
		return p.Name, !p.missing
	}
	p := &pair{}
	c.pairs[key] = p
	c.order = append(c.order, key)
	var printed, printedToo bool
	p.In, printed = c.print(from)
	p.Out, printedToo = c.print(to)
	if p.missing = !printed || !printedToo; p.missing {
		return "", false
	}
	c.name(p, to, from)
	if p.known {
		return p.Name, true
	}
	lines, base := c.lines, c.base
	c.lines, c.base = nil, from.name
	p.missing = !c.inline("*out", "*in", to, from, 0)
	p.Body, c.lines, c.base = c.lines, lines, base
	return p.Name, !p.missing
}

// helpers returns the new functions. The two functions of a pair of types are adjacent.
func (c *converter) helpers() []Helper {
	var list []Helper
	add := func(key string) {
		if p := c.pairs[key]; p != nil && !p.missing && !p.known && !p.listed {
			p.listed = true
			list = append(list, p.Helper)
		}
	}
	for _, key := range c.order {
		add(key)
		from, to, _ := strings.Cut(key, " ")
		add(to + " " + from)
	}
	return list
}
