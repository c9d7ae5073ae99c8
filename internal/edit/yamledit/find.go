package yamledit

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// spot is a value in the document with its context.
type spot struct {
	node   *yaml.Node
	key    *yaml.Node // the key, if the value is in a mapping
	parent *yaml.Node // the surrounding mapping or sequence; nil for the root
	index  int        // the index of the value in parent.Content
	flow   bool       // the value is inside brackets
	next   int        // offset of the next entry in the document
}

// indent returns the column (from 0) of the collection around the value.
func (s spot) indent() int {
	if s.parent == nil {
		return -1
	}
	return s.parent.Column - 1
}

// find follows path, whose elements are keys (string) and indices (int), and
// returns the deepest existing value and the number of elements that exist.
func (d *yamlDoc) find(path []any) (s spot, depth int, err error) {
	s = spot{node: d.root, next: d.stop}
	for _, step := range path {
		n := s.node
		if n.Kind == yaml.AliasNode {
			return s, depth, d.aliasError(n)
		}
		child := spot{parent: n, index: -1, next: s.next, flow: s.flow || isFlow(n)}
		width := 1 // nodes per entry of n.Content
		switch step := step.(type) {
		case string:
			if n.Kind != yaml.MappingNode {
				return s, depth, d.errorAt(n, "write the value as a mapping, or edit the file by hand", "a mapping with the key %q is expected here", step)
			}
			width = 2
			child.index = valueIndex(n, step)
		case int:
			if n.Kind != yaml.SequenceNode {
				return s, depth, d.errorAt(n, "write the value as a list, or edit the file by hand", "a list is expected here")
			}
			if step < len(n.Content) {
				child.index = step
			}
		}
		if child.index < 0 {
			return s, depth, nil
		}
		child.node = n.Content[child.index]
		if width == 2 {
			child.key = n.Content[child.index-1]
		}
		if child.index+1 < len(n.Content) {
			if child.next, err = d.entry(n, child.index+1); err != nil {
				return s, depth, err
			}
		}
		s, depth = child, depth+1
	}
	return s, depth, nil
}

// aliasError is the error for an edit of an alias, whose value may have keys
// that the caller does not know.
func (d *yamlDoc) aliasError(n *yaml.Node) error {
	return d.errorAt(n, "write the value out", "the alias *%s cannot be edited", n.Value)
}

// need is find for a path that must exist.
func (d *yamlDoc) need(path []any) (spot, error) {
	s, depth, err := d.find(path)
	if err == nil && depth < len(path) {
		err = d.errorAt(s.node, "write the value out", "%s is not written here (it may come from a merge key)", fmt.Sprint(path[depth]))
	}
	return s, err
}

// valueIndex returns the index in a mapping's Content of the value of key, or
// -1.
func valueIndex(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind == yaml.ScalarNode && n.Content[i].Value == key {
			return i + 1
		}
	}
	return -1
}

// entry returns the offset of the entry at n.Content[i]: a key, the dash of an
// item, or the item itself inside brackets.
func (d *yamlDoc) entry(n *yaml.Node, i int) (int, error) {
	if n.Kind == yaml.SequenceNode && !isFlow(n) {
		return d.dash(n, i)
	}
	return d.start(n.Content[i]), nil
}
