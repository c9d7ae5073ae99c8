package crdupgrade

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// place is a schema or one of its keywords in the versions that are compared.
type place struct{ scope, property, keyword string }

// concise returns the differences without those that others explain, in their order: a property is
// removed with all that it has, and a keyword with schemas differs because one of these does.
func concise(all []difference) []difference {
	missing, changed := map[place]bool{}, map[place]bool{}
	for _, d := range all {
		changed[place{d.scope, d.property, d.keyword}] = true
		if d.missing {
			missing[place{d.scope, d.property, removed}] = true
		}
	}
	// holder is the keyword with the schema. If it changed, it says more than that the schema is missing.
	holder := func(d difference) place { return place{d.scope, d.above[0].property, d.above[0].keyword} }
	explained := map[place]bool{}
	for _, d := range all {
		for i, p := range d.above {
			if i > 0 || !d.missing {
				explained[place{d.scope, p.property, p.keyword}] = true
			}
		}
	}
	for _, d := range all {
		if d.missing && changed[holder(d)] {
			explained[holder(d)] = false
		}
	}
	reported := map[place]bool{}
	return slices.DeleteFunc(all, func(d difference) bool {
		if slices.ContainsFunc(d.above, func(p parent) bool { return missing[place{d.scope, p.property, removed}] }) {
			return true
		}
		if !d.missing {
			return explained[place{d.scope, d.property, d.keyword}]
		}
		schema := place{d.scope, d.property, removed}
		again := reported[schema]
		reported[schema] = true
		return again || changed[holder(d)]
	})
}

// longest is the length of values that a text quotes.
const longest = 60

// text returns the difference for people.
func (d difference) text() string {
	property := cmp.Or(d.property, "the object")
	what := d.keyword + " of " + property
	switch {
	case d.missing:
		what = property + " was removed"
	case d.keyword == "required":
		what = join(d.property, d.to) + " became required"
	case d.keyword == "enum" && d.to == "":
		what += " no longer has " + d.from
	case utf8.RuneCountInString(d.from) > longest || utf8.RuneCountInString(d.to) > longest:
		what += " changed"
	default:
		from, to := cmp.Or(d.from, "none"), cmp.Or(d.to, "none")
		if d.keyword == "type" {
			from, to = strings.Trim(from, `"`), strings.Trim(to, `"`)
		}
		what += " changed from " + from + " to " + to
	}
	return d.scope + ", " + what
}
