package yamledit

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ListAnchor defines where Append adds an item.
type ListAnchor struct {
	Path   []string // keys from the root of the document to the list, such as {"resources"}
	Marker string   // name of the comment "# +kubebuilder:scaffold:<name>"; "" for none
	Dir    string   // for a list of paths: the folder of the file in the project; see sameItem
	First  bool     // before all other items, in the column of a commented-out item there
}

// Append adds item to a list. The item is YAML and can have several lines
// ("bases/x.yaml", "path: p.yaml\ntarget:\n  kind: Deployment"). It goes first
// if o.First is set, or else above the scaffold comment in the list (see
// ListAnchor.Marker), or else after the last item. A missing list is created,
// above the marker or at the end. If the list already contains the item,
// nothing changes. Errors in src have the form line:column.
func Append(src []byte, item string, o ListAnchor) ([]byte, error) {
	value, err := decodeYAML([]byte(item))
	if err != nil {
		return nil, fmt.Errorf("the list item %q is not YAML", item)
	}
	d, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	old, err := d.decode()
	if err != nil {
		return nil, err
	}
	path := make([]any, len(o.Path))
	for i, key := range o.Path {
		path[i] = key
	}
	s, depth, err := d.find(path)
	if err != nil {
		return nil, err
	}
	if depth == len(path) && holds(s.node, value, o.Dir) {
		return src, nil
	}
	a := appender{yamlDoc: d, item: strings.Split(strings.TrimRight(item, "\n"), "\n"), value: value, marker: o.Marker, first: o.First}
	out, index, err := a.add(s, path, depth)
	if err != nil {
		return nil, err
	}
	expected := descend(old, path, func(list any) any {
		items, _ := list.([]any)
		return slices.Insert(slices.Clone(items), min(index, len(items)), value)
	})
	return out, d.check(out, path, expected)
}

// holds reports whether n is a list that contains value.
func holds(n *yaml.Node, value any, dir string) bool {
	if n.Kind != yaml.SequenceNode {
		return false
	}
	return slices.ContainsFunc(n.Content, func(item *yaml.Node) bool {
		var v any
		return item.Decode(&v) == nil && sameItem(v, value, dir)
	})
}

// sameItem compares list items by value. If dir is not empty, the list is one
// of paths relative to dir, and paths to the same place are equal: "../crd",
// "../crd/" and "../../config/crd" in config/default.
func sameItem(a, b any, dir string) bool {
	x, xText := a.(string)
	y, yText := b.(string)
	if dir == "" || !xText || !yText || !relative(x) || !relative(y) {
		return equalYAML(a, b)
	}
	return path.Join(dir, x) == path.Join(dir, y)
}

// relative reports whether s is neither an absolute path nor a URL.
func relative(s string) bool { return !path.IsAbs(s) && !strings.Contains(s, "://") }

// appender adds one item to a list. Its methods return the new bytes and the
// index of the new item.
type appender struct {
	*yamlDoc
	item   []string // the item's lines
	value  any      // the item, decoded
	marker string
	first  bool
}

func (a appender) add(s spot, path []any, depth int) ([]byte, int, error) {
	n := s.node
	switch {
	case depth < len(path):
		out, err := a.create(s, path, depth)
		return out, 0, err
	case n.Kind == yaml.SequenceNode && !isFlow(n):
		return a.extend(s)
	case n.Kind == yaml.SequenceNode && (len(n.Content) > 0 || s.flow):
		i := len(n.Content)
		if a.first {
			i = 0
		}
		out, err := a.insertFlow(n, i, flow(a.value))
		return out, i, err
	case s.key != nil && !s.flow && (n.Kind == yaml.SequenceNode || n.Tag == "!!null"):
		out, err := a.fill(s)
		return out, 0, err
	}
	return nil, 0, a.errorAt(n, "write the value as a list, or edit the file by hand", "a list is expected here")
}

// lines returns the item, nested under the missing keys, in the style of the
// file.
func (a appender) lines(indent int, keys ...string) []string {
	var lines []string
	for i, key := range keys {
		lines = append(lines, strings.Repeat(" ", indent)+key+":")
		if i < len(keys)-1 {
			indent += a.style.step
		} else {
			indent += a.style.lists
		}
	}
	body := append([]string{"- " + a.item[0]}, indentLines(2, a.item[1:])...)
	return append(lines, indentLines(indent, body)...)
}

// extend adds to a list in block style. The marker can be between items.
func (a appender) extend(s spot) ([]byte, int, error) {
	n, indent := s.node, s.node.Column-1
	if a.first {
		out, err := a.insertEntry(n, 0, a.lines(0))
		return out, 0, err
	}
	for i := range n.Content {
		end, err := a.end(n.Content[i], indent)
		if err != nil {
			return nil, 0, err
		}
		next := s.next
		if i+1 < len(n.Content) {
			if next, err = a.entry(n, i+1); err != nil {
				return nil, 0, err
			}
		}
		if at, ok := a.findMarker(a.nextLine(end), next); ok {
			return a.apply(a.insertLines(at, a.lines(indent))), i + 1, nil
		}
	}
	out, err := a.insertEntry(n, len(n.Content), a.lines(0))
	return out, len(n.Content), err
}

// fill writes the first item of an empty list ("key: []", "key:").
func (a appender) fill(s spot) ([]byte, error) {
	colon, err := a.colon(s.key)
	if err != nil {
		return nil, err
	}
	end, err := a.end(s.node, s.indent())
	if err != nil {
		return nil, err
	}
	end = max(end, colon)
	indent := s.indent() + a.style.lists
	at := a.nextLine(end)
	if m, ok := a.findMarker(a.nextLine(end), s.next); ok {
		text := a.lineText(m)
		at = m
		indent = max(indent, len(text)-len(strings.TrimLeft(text, " ")))
	} else if a.first {
		indent = max(indent, a.commentedColumn(at, s.next))
	}
	return a.apply(byteEdit{colon, end, ""}, a.insertLines(at, a.lines(indent))), nil
}

// commentedColumn returns the column of the first commented-out item between
// two offsets, after its "#" is removed: 1 for "# - a".
func (a appender) commentedColumn(from, to int) int {
	for at := from; at < to; at = a.nextLine(at) {
		if c, ok := a.commented(a.line(at), 1); ok {
			return len(c.prefix) - 1
		}
	}
	return 0
}

// create writes the keys of path from depth on, with a list of one item. s is
// the deepest existing value.
func (a appender) create(s spot, path []any, depth int) ([]byte, error) {
	keys := make([]string, 0, len(path)-depth)
	for _, key := range path[depth:] {
		keys = append(keys, key.(string))
	}
	if s.parent == nil && !isFlow(s.node) {
		at := a.stop
		if m, ok := a.rootMarker(); ok {
			at = m
		}
		return a.apply(a.insertLines(at, a.lines(0, keys...))), nil
	}
	if isFlow(s.node) {
		value := any([]any{a.value})
		for _, key := range slices.Backward(keys[1:]) {
			value = map[string]any{key: value}
		}
		return a.insertKey(path[:depth], keys[0], value)
	}
	return a.insertEntry(s.node, len(s.node.Content), a.lines(0, keys...))
}

// findMarker searches for the marker comment on the lines between two offsets
// that contain no values.
func (a appender) findMarker(from, to int) (int, bool) {
	for at := from; at < to && a.marker != ""; at = a.nextLine(at) {
		comment, ok := strings.CutPrefix(strings.TrimSpace(a.lineText(at)), "#")
		if ok && strings.TrimSpace(comment) == "+kubebuilder:scaffold:"+a.marker {
			return at, true
		}
	}
	return 0, false
}

// rootMarker searches for the marker between and below the keys of the root.
func (a appender) rootMarker() (int, bool) {
	from := 0
	for i := 1; i < len(a.root.Content); i += 2 {
		end, err := a.end(a.root.Content[i], a.root.Column-1)
		if err != nil {
			return 0, false
		}
		to := a.stop
		if i+1 < len(a.root.Content) {
			to = a.start(a.root.Content[i+1])
		}
		if at, ok := a.findMarker(a.nextLine(end), to); ok {
			return at, true
		}
		from = a.nextLine(end)
	}
	return a.findMarker(from, a.stop)
}
