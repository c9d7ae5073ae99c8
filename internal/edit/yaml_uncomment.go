package edit

import (
	"regexp"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"go.yaml.in/yaml/v3"
)

// UncommentYAML makes a commented list item active: the comment "#- ../crd"
// becomes the item for line "- ../crd". line may span lines, all of which are
// commented out in the file. The indentation follows the items around it. An
// item that some list holds already changes nothing; when it is neither a
// comment nor active, the error's hint says what to add by hand.
func UncommentYAML(src []byte, line string) ([]byte, error) {
	wanted := strings.Split(strings.TrimRight(line, "\n"), "\n")
	items, err := decodeYAML([]byte(line))
	list, ok := items.([]any)
	if err != nil || !ok || len(list) != 1 {
		return nil, fault.Failed("", "%q is not one list item", line)
	}
	d, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	if count(d.root, list[0]) > 0 {
		return src, nil
	}
	for i := range d.lines {
		edits, column, ok := d.uncomment(i, wanted)
		if !ok {
			continue
		}
		for _, indent := range d.indents(i, column) {
			out := d.apply(edits(indent)...)
			if e, err := parseYAML(out); err == nil && count(e.root, list[0]) == 1 {
				return out, nil
			}
		}
	}
	return nil, fault.Failed("add by hand, to the list where it belongs:\n"+line,
		"neither %q nor a comment with it is in the file", wanted[0])
}

// count returns how many list items below n decode to value.
func count(n *yaml.Node, value any) int {
	total := 0
	for _, child := range n.Content {
		var v any
		if n.Kind == yaml.SequenceNode && child.Decode(&v) == nil && equalYAML(v, value) {
			total++
		}
		total += count(child, value)
	}
	return total
}

var (
	commentLine = regexp.MustCompile(`^([ \t]*)#( ?)(.*)$`)
	commentOnly = regexp.MustCompile(`^([ \t]+#.*|[ \t]*)$`)
)

// uncomment matches the comment lines from index i on with wanted. It returns
// the column that the text had behind its "#" and a function that makes the
// edits for another column.
func (d *yamlDoc) uncomment(i int, wanted []string) (edits func(indent int) []byteEdit, column int, ok bool) {
	if i+len(wanted) > len(d.lines) {
		return nil, 0, false
	}
	first := commentLine.FindStringSubmatch(d.lineText(d.lines[i]))
	if first == nil {
		return nil, 0, false
	}
	// Behind "# - a" the text starts one column later than behind "#- a".
	prefix := first[1] + "#" + first[2]
	inner := strings.TrimLeft(first[3], " ")
	prefix += first[3][:len(first[3])-len(inner)]
	for k, text := range wanted {
		rest, found := strings.CutPrefix(d.lineText(d.lines[i+k]), prefix+text)
		if !found || !commentOnly.MatchString(rest) {
			return nil, 0, false
		}
	}
	return func(indent int) []byteEdit {
		var all []byteEdit
		for k := range wanted {
			at := d.lines[i+k]
			all = append(all, byteEdit{at, at + len(prefix), strings.Repeat(" ", indent)})
		}
		return all
	}, len(first[1]), true
}

// indents lists the columns to try for an item at line i: its own, then those
// of the nearest items above and below.
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
