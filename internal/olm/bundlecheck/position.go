package bundlecheck

import (
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/olm/bundle"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// document is a file with one object.
type document struct {
	*unstructured.Unstructured

	file     string
	src      []byte
	docs     []*yaml.Node     // all documents of the file
	root     *yaml.Node       // the first one that is a mapping; nil if the positions of values are unknown
	mistakes []bundle.Mistake // why strict parsers refuse the file
}

// parse returns the document in a file, without its object.
func (x *input) parse(name string) *document {
	d := &document{file: name, src: x.files[name], Unstructured: &unstructured.Unstructured{Object: map[string]any{}}}
	d.docs, d.mistakes = bundle.Strict(d.src)
	if i := slices.IndexFunc(d.docs, func(n *yaml.Node) bool { return n.Kind == yaml.MappingNode }); i >= 0 {
		d.root = d.docs[i]
	}
	return d
}

// syntax returns the mistake in the syntax of the file, or that it cannot be decoded for another reason.
func (d *document) syntax(err error) bundle.Mistake {
	for _, m := range d.mistakes {
		if m.Syntax {
			return m
		}
	}
	return bundle.Mistake{Text: strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")}
}

// at returns the place of a value in the document. Steps are keys and indexes.
func (d *document) at(path ...any) place { return place{doc: d, path: path} }

// place is the place of a value in a document. If there is no such value, it is the place of its
// closest parent.
type place struct {
	doc  *document
	path []any
	file string // without a document
}

// child returns the place of a value below.
func (p place) child(path ...any) place {
	return p.doc.at(append(p.path[:len(p.path):len(p.path)], path...)...)
}

// value returns the value at the place, or nil.
func (p place) value() any { return p.doc.value(p.path...) }

// position returns the file, and the line and the column from 1, or 0 if they are unknown.
func (p place) position() (file string, line, column int) {
	if p.doc == nil {
		return p.file, 0, 0
	}
	if p.doc.root == nil {
		return p.doc.file, 0, 0
	}
	at, _, _ := p.find()
	return p.doc.file, at.Line, at.Column
}

// find returns the value at the place, or its closest parent, and the node that people look for: a key, or else
// the value.
func (p place) find() (at, value *yaml.Node, exact bool) {
	value, at = p.doc.root, p.doc.root
	for _, step := range p.path {
		key, next := child(value, step)
		if next == nil {
			return at, value, false
		}
		value, at = next, next
		if key != nil && next.Kind != yaml.ScalarNode {
			at = key
		}
	}
	return at, value, true
}

// text returns the scalar at the place as it is written, or "".
func (p place) text() string {
	if p.doc.root != nil {
		if _, value, exact := p.find(); exact && value.Kind == yaml.ScalarNode {
			return value.Value
		}
	}
	return ""
}

// child returns the value of a key, and the node of the key, or the item of an index. Of several
// equal keys OLM reads the last.
func child(node *yaml.Node, step any) (key, value *yaml.Node) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch step := step.(type) {
	case string:
		for i := len(node.Content) - 2; node.Kind == yaml.MappingNode && i >= 0; i -= 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	case int:
		if node.Kind == yaml.SequenceNode && step >= 0 && step < len(node.Content) {
			return nil, node.Content[step]
		}
	}
	return nil, nil
}

// fieldPath returns the steps of a path such as spec.versions[0].schema.
func fieldPath(text string) []any {
	var steps []any
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		if i, err := strconv.Atoi(part); err == nil {
			steps = append(steps, i)
		} else {
			steps = append(steps, part)
		}
	}
	return steps
}

// pathText returns a path as text, such as spec.versions[0].schema.
func pathText(path []any) string {
	var text strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			text.WriteString("[" + strconv.Itoa(step) + "]")
		case string:
			if text.Len() > 0 {
				text.WriteString(".")
			}
			text.WriteString(step)
		}
	}
	return text.String()
}

// value returns the value at a path, or nil.
func (d *document) value(path ...any) any {
	var v any = d.Object
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step < 0 || step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}
