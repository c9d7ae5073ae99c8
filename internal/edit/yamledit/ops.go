package yamledit

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Each primitive edit returns new bytes and does not change d, whose positions do
// not apply to the new bytes.

// set replaces the value at path.
func (d *yamlDoc) set(path []any, v any) ([]byte, error) {
	s, err := d.need(path)
	if err != nil {
		return nil, err
	}
	if s.parent == nil {
		return nil, d.errorAt(s.node, "edit the file by hand", "the document as a whole cannot be replaced")
	}
	if s.node.Kind == yaml.AliasNode {
		return nil, d.aliasError(s.node)
	}
	end, err := d.end(s.node, s.indent())
	if err != nil {
		return nil, err
	}
	start := d.start(s.node)
	if s.node.Anchor != "" { // keep the anchor for its aliases
		start, _ = d.skipProperties(start)
	}
	switch {
	case s.flow:
		return d.apply(byteEdit{start, end, lead(start == end && d.src[start-1] != ' ', flow(v))}), nil
	case s.key == nil:
		return d.setItem(s, start, end, v), nil
	}
	return d.setValue(s, start, end, v)
}

// lead adds a space before text that directly follows a colon or a dash.
func lead(yes bool, text string) string {
	if yes {
		return " " + text
	}
	return text
}

func (d *yamlDoc) setItem(s spot, start, end int, v any) []byte {
	column := s.node.Column - 1
	if isEmpty(s.node) {
		column++
	}
	lines := d.style.block(v)
	if text, ok := oneLine(v, s.node); ok {
		lines = []string{text}
	}
	return d.apply(byteEdit{start, end, lead(start == end, d.hang(column, lines))})
}

// setValue replaces the value of a mapping entry in block style. Comments stay
// on the line of the key and between the key and a nested value.
func (d *yamlDoc) setValue(s spot, start, end int, v any) ([]byte, error) {
	colon, err := d.colon(s.key)
	if err != nil {
		return nil, err
	}
	text, short := oneLine(v, s.node)
	var below []string
	if !short {
		below = indentLines(s.indent(), d.style.block(map[string]any{"k": v})[1:])
	}
	if isBlock(s.node) {
		first, err := d.entry(s.node, 0)
		if err != nil {
			return nil, err
		}
		nested := byteEdit{d.lineStart(first), d.nextLine(end), ""}
		if short {
			return d.apply(byteEdit{colon, colon, " " + text}, nested), nil
		}
		nested.to = d.tail(end, s.indent())
		nested.text = d.insertLines(nested.from, below).text
		return d.apply(nested), nil
	}
	switch {
	case short && start == end:
		return d.apply(byteEdit{colon, colon, " " + text}), nil
	case short:
		return d.apply(byteEdit{start, end, text}), nil
	}
	return d.apply(byteEdit{colon, max(colon, end), ""}, d.insertLines(d.nextLine(end), below)), nil
}

// insertKey adds key to the mapping at path, before the first key that sorts
// after it.
func (d *yamlDoc) insertKey(path []any, key string, v any) ([]byte, error) {
	lines := d.style.block(map[string]any{key: v})
	if d.root.Line == 0 {
		return d.apply(d.insertLines(len(d.src), lines)), nil
	}
	s, err := d.need(path)
	if err != nil {
		return nil, err
	}
	m := s.node
	if m.Kind != yaml.MappingNode {
		return nil, d.errorAt(m, "write the value as a mapping, or edit the file by hand", "a mapping is expected here")
	}
	if isFlow(m) {
		if len(m.Content) == 0 && !s.flow && s.parent != nil {
			return d.set(path, map[string]any{key: v})
		}
		pair := flow(map[string]any{key: v})
		return d.insertFlow(m, len(m.Content), pair[1:len(pair)-1])
	}
	at := 0
	for at < len(m.Content) && m.Content[at].Value < key {
		at += 2
	}
	return d.insertEntry(m, at, lines)
}

// insertEntry inserts lines into a block collection before the entry at
// n.Content[i]: after the previous entry and its comments.
func (d *yamlDoc) insertEntry(n *yaml.Node, i int, lines []string) ([]byte, error) {
	indent := n.Column - 1
	if i == 0 {
		first, err := d.entry(n, 0)
		if err != nil {
			return nil, err
		}
		return d.apply(byteEdit{first, first, d.hang(indent, append(slices.Clone(lines), "")) + strings.Repeat(" ", indent)}), nil
	}
	end, err := d.end(n.Content[i-1], indent)
	if err != nil {
		return nil, err
	}
	return d.apply(d.insertLines(d.tail(end, indent), indentLines(indent, lines))), nil
}

// insertFlow inserts an entry inside brackets.
func (d *yamlDoc) insertFlow(n *yaml.Node, i int, text string) ([]byte, error) {
	switch {
	case len(n.Content) == 0:
		body, _ := d.skipProperties(d.start(n))
		return d.apply(byteEdit{body + 1, body + 1, text}), nil
	case i < len(n.Content):
		at := d.start(n.Content[i])
		return d.apply(byteEdit{at, at, text + ", "}), nil
	}
	end, err := d.end(n.Content[len(n.Content)-1], -1)
	if err != nil {
		return nil, err
	}
	return d.apply(byteEdit{end, end, ", " + text}), nil
}

// insertItem adds an item at index i of the list at path.
func (d *yamlDoc) insertItem(path []any, i int, v any) ([]byte, error) {
	s, err := d.need(path)
	if err != nil {
		return nil, err
	}
	switch {
	case s.node.Kind != yaml.SequenceNode:
		return nil, d.errorAt(s.node, "write the value as a list, or edit the file by hand", "a list is expected here")
	case isFlow(s.node) && len(s.node.Content) == 0 && !s.flow:
		return d.set(path, []any{v})
	case isFlow(s.node):
		return d.insertFlow(s.node, i, flow(v))
	}
	return d.insertEntry(s.node, i, d.style.block([]any{v}))
}

// remove deletes the entry at path. A collection that loses its last entry
// becomes an empty one.
func (d *yamlDoc) remove(path []any) ([]byte, error) {
	s, err := d.need(path)
	if err != nil {
		return nil, err
	}
	n, from, width := s.parent, s.index, 1
	if s.key != nil {
		from, width = from-1, 2
	}
	if len(n.Content) == width && n == d.root {
		return d.clear()
	}
	if len(n.Content) == width {
		if n.Kind == yaml.MappingNode {
			return d.set(path[:len(path)-1], map[string]any{})
		}
		return d.set(path[:len(path)-1], []any{})
	}
	if isFlow(n) {
		return d.removeFlow(n, from, width)
	}
	start, err := d.entry(n, from)
	if err != nil {
		return nil, err
	}
	end, err := d.end(s.node, s.indent())
	if err != nil {
		return nil, err
	}
	if d.startsLine(start) {
		return d.apply(byteEdit{d.lineStart(start), d.tail(end, s.indent()), ""}), nil
	}
	// The entry shares its line with a dash. The next entry takes its place,
	// unless there are comments between the two, which stay below the dash.
	if below := d.nextLine(end); d.skipSpaceOnly(below) == s.next {
		return d.apply(byteEdit{start, s.next, ""}), nil
	}
	for start > 0 && d.src[start-1] == ' ' {
		start--
	}
	return d.apply(byteEdit{start, end, ""}), nil
}

// clear replaces the only key of the document with an empty mapping.
func (d *yamlDoc) clear() ([]byte, error) {
	end, err := d.end(d.root, -1)
	if err != nil {
		return nil, err
	}
	return d.apply(byteEdit{d.start(d.root), end, "{}"}), nil
}

func (d *yamlDoc) skipSpaceOnly(at int) int {
	for at < len(d.src) && strings.IndexByte(" \t\r\n", d.src[at]) >= 0 {
		at++
	}
	return at
}

// removeFlow deletes an entry inside brackets, with a comma next to it.
func (d *yamlDoc) removeFlow(n *yaml.Node, from, width int) ([]byte, error) {
	if from+width < len(n.Content) {
		return d.apply(byteEdit{d.start(n.Content[from]), d.start(n.Content[from+width]), ""}), nil
	}
	before, err := d.end(n.Content[from-1], -1)
	if err != nil {
		return nil, err
	}
	end, err := d.end(n.Content[from+width-1], -1)
	if err != nil {
		return nil, err
	}
	return d.apply(byteEdit{before, end, ""}), nil
}
