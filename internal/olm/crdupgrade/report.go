package crdupgrade

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// concise returns the differences without those that others explain, in their order.
func concise(all []difference) []difference {
	key := func(d difference, property string) string { return d.scope + "\x00" + property }
	missing, inValues := map[string]bool{}, map[string]bool{}
	for _, d := range all {
		if d.missing {
			missing[key(d, d.property)] = true
		}
		for i, property := range append([]string{d.property}, d.parents...) {
			if i < len(d.parents) && property == d.parents[i]+"[*]" {
				inValues[key(d, d.parents[i])] = true
			}
		}
	}
	reported := map[string]bool{}
	return slices.DeleteFunc(all, func(d difference) bool {
		switch {
		case slices.ContainsFunc(d.parents, func(parent string) bool { return missing[key(d, parent)] }):
			return true // the parent was removed
		case d.keyword == "additionalProperties" && inValues[key(d, d.property)]:
			return true // the difference of the values follows
		case d.missing || d.moved != "":
			again := reported[key(d, d.property)]
			reported[key(d, d.property)] = true
			return again
		}
		return false
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
	case d.moved != "":
		what = d.moved + " " + property
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
