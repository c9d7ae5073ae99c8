package yamledit

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
)

// Uncomment activates a commented-out list item: the comment "#- ../crd"
// becomes the item for line "- ../crd". line can have several lines, all of
// which are commented out in the file. White space and quotes in the comment
// are ignored. If dir, the folder of a file that lists paths, is not empty,
// paths are compared as in ListAnchor.Dir. The text of the comment becomes the
// item, indented like the items around it. An item that a list already contains
// changes nothing. If the item is neither commented out nor active, the hint of
// the error contains the lines to add by hand.
func Uncomment(src []byte, line, dir string) ([]byte, error) {
	wanted := strings.Split(strings.TrimRight(line, "\n"), "\n")
	item, ok := oneItem(line)
	if !ok {
		return nil, fmt.Errorf("%q is not one list item", line)
	}
	d, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	if count(d.root, item, dir) > 0 {
		return src, nil
	}
	for i := range d.lines {
		c, ok := d.commented(i, len(wanted))
		if !ok {
			continue
		}
		if v, ok := oneItem(c.text); !ok || !sameItem(v, item, dir) {
			continue
		}
		for _, indent := range d.indents(i, c.column) {
			out := d.apply(d.uncomment(i, len(wanted), len(c.prefix), indent)...)
			if e, err := parseYAML(out); err == nil && count(e.root, item, dir) == 1 {
				return out, nil
			}
		}
	}
	return nil, fault.Failed("add by hand, to the list where it belongs:\n"+line,
		"neither %q nor a comment with it is in the file", wanted[0])
}

// Comment is the inverse of Uncomment for an item on a line of its own: "- ../crd"
// becomes the comment "#- ../crd". If no list contains the item, nothing changes.
func Comment(src []byte, line, dir string) ([]byte, error) {
	item, ok := oneItem(line)
	if !ok {
		return nil, fmt.Errorf("%q is not one list item", line)
	}
	d, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	active := count(d.root, item, dir)
	if active == 0 {
		return src, nil
	}
	for _, at := range d.lines {
		text := d.lineText(at)
		if v, ok := oneItem(text); !ok || !sameItem(v, item, dir) {
			continue
		}
		at += len(text) - len(strings.TrimLeft(text, " \t"))
		out := d.apply(byteEdit{at, at, "#"})
		if e, err := parseYAML(out); err == nil && count(e.root, item, dir) == active-1 {
			return out, nil
		}
	}
	return nil, fault.Failed("comment this line out by hand, then repeat the command:\n"+line,
		"%q shares its line with other items", line)
}

// UncommentKey activates a commented-out key at the root of the document whose
// line has a list in brackets or no value: "#patches:" becomes "patches:".
// Nothing changes if the key exists, or if the comment does not.
func UncommentKey(src []byte, key string) ([]byte, error) {
	d, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	if valueIndex(d.root, key) >= 0 {
		return src, nil
	}
	comment := regexp.MustCompile(`^#[ \t]*` + regexp.QuoteMeta(key) + `:[ \t]*([\[#].*)?$`)
	for _, at := range d.lines {
		text := d.lineText(at)
		if !comment.MatchString(text) {
			continue
		}
		out := d.apply(byteEdit{at, at + strings.Index(text, key), ""})
		e, err := parseYAML(out)
		if err != nil {
			continue
		}
		i := valueIndex(e.root, key)
		if i < 0 {
			continue
		}
		// A value on the following lines would be taken from the key above.
		if v := e.root.Content[i]; isEmpty(v) || v.Kind == yaml.SequenceNode && isFlow(v) {
			return out, nil
		}
	}
	return src, nil
}

// oneItem decodes a list and returns its only item.
func oneItem(text string) (any, bool) {
	v, err := decodeYAML([]byte(text))
	list, ok := v.([]any)
	if err != nil || !ok || len(list) != 1 {
		return nil, false
	}
	return list[0], true
}

// count returns the number of list items below n that equal value.
func count(n *yaml.Node, value any, dir string) int {
	total := 0
	for _, child := range n.Content {
		var v any
		if n.Kind == yaml.SequenceNode && child.Decode(&v) == nil && sameItem(v, value, dir) {
			total++
		}
		total += count(child, value, dir)
	}
	return total
}

var commentLine = lazyregexp.New(`^(([ \t]*)#[ \t]*)-[ \t]`)

// comment is a commented-out list item.
type comment struct {
	column int    // column of the "#"
	prefix string // start of each line, up to the column of the dash
	text   string // the lines without the prefix
}

// commented reads n comment lines from index i, the first of which contains a
// dash.
func (d *yamlDoc) commented(i, n int) (comment, bool) {
	m := commentLine().FindStringSubmatch(d.lineText(d.lines[i]))
	if m == nil || i+n > len(d.lines) {
		return comment{}, false
	}
	c := comment{column: len(m[2]), prefix: m[1]}
	var lines []string
	for k := range n {
		text, ok := strings.CutPrefix(d.lineText(d.lines[i+k]), c.prefix)
		if !ok {
			return comment{}, false
		}
		lines = append(lines, text)
	}
	c.text = strings.Join(lines, "\n")
	return c, true
}

// uncomment replaces the prefix of n lines from index i with indent spaces.
func (d *yamlDoc) uncomment(i, n, prefix, indent int) []byteEdit {
	var all []byteEdit
	for k := range n {
		at := d.lines[i+k]
		all = append(all, byteEdit{at, at + prefix, strings.Repeat(" ", indent)})
	}
	return all
}

// indents lists the columns to try for an item at line i: its own, and the columns of
// the nearest items above and below.
func (d *yamlDoc) indents(i, own int) []int {
	columns := []int{own}
	add := func(l int) bool {
		text := d.lineText(d.lines[l])
		item := strings.TrimLeft(text, " ")
		if !strings.HasPrefix(item, "- ") {
			return false
		}
		columns = append(columns, len(text)-len(item))
		return true
	}
	for l := i - 1; l >= 0 && !add(l); l-- {
	}
	for l := i + 1; l < len(d.lines) && !add(l); l++ {
	}
	return append(columns, own+2)
}
