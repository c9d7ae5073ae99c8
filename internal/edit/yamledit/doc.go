package yamledit

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/operon-dev/operon/internal/edit"
	"go.yaml.in/yaml/v3"
)

// yamlDoc is a YAML document under edit: its bytes, and the node tree with
// their positions. The tree is never printed.
type yamlDoc struct {
	src   []byte
	lines []int      // offset of the first byte of each line
	node  yaml.Node  // the document
	root  *yaml.Node // a mapping; without a position if the document is empty
	eol   string     // the line ending of inserted lines
	stop  int        // offset of the line that ends the document ("..."), or len(src)
	style yamlStyle
}

// parseYAML reads a document whose root is a mapping, or an empty document.
func parseYAML(src []byte) (*yamlDoc, error) {
	d := &yamlDoc{
		src: src, lines: lineStarts(src), eol: edit.LineEnd(src), stop: len(src),
		root: &yaml.Node{Kind: yaml.MappingNode}, style: yamlStyle{step: 2},
	}
	if !utf8.Valid(src) {
		return nil, d.notText()
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var second yaml.Node
	err := dec.Decode(&d.node)
	if errors.Is(err, io.EOF) {
		return d, nil
	}
	if err != nil {
		return nil, d.syntaxError(err)
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, d.syntaxError(err)
		}
		return nil, d.errorAt(&second, "keep one document per file", "a second document starts here")
	}
	root := d.node.Content[0]
	if isEmpty(root) {
		return d, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, d.errorAt(root, "write lines of the form key: value", "the document is not a mapping of keys to values")
	}
	d.root = root
	d.fixPositions(root)
	d.style = styleOf(root)
	end, err := d.end(root, -1)
	if err != nil {
		return nil, err
	}
	for at := d.nextLine(end); at < len(src); at = d.nextLine(at) {
		if bytes.HasPrefix(src[at:], []byte("...")) {
			d.stop = at
			break
		}
	}
	return d, nil
}

// fixPositions moves the position of block collections with an anchor or a tag to
// their first entry. The parser reports the position of the anchor or tag,
// which is on a line above.
func (d *yamlDoc) fixPositions(n *yaml.Node) {
	for _, c := range n.Content {
		d.fixPositions(c)
	}
	if !isBlock(n) || n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 || len(n.Content) == 0 || n.Content[0].Line == n.Line {
		return
	}
	if n.Kind == yaml.MappingNode {
		n.Line, n.Column = n.Content[0].Line, n.Content[0].Column
		return
	}
	for line := n.Line + 1; line <= n.Content[0].Line; line++ {
		text := d.lineText(d.lines[line-1])
		if entry := strings.TrimLeft(text, " "); strings.HasPrefix(entry, "-") {
			n.Line, n.Column = line, len(text)-len(entry)+1
			return
		}
	}
}

// decode returns the document as plain data. An empty document is nil.
func (d *yamlDoc) decode() (v any, err error) {
	if d.node.Kind == 0 { // an empty document
		return v, nil
	}
	if err = d.node.Decode(&v); err != nil {
		return nil, d.syntaxError(err)
	}
	return v, nil
}

// isEmpty reports whether a value is missing in the text, as in "key:".
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0
}

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// isBlock reports whether n is a mapping or sequence in block style, which has
// separate lines.
func isBlock(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && !isFlow(n)
}

// byteEdit replaces src[from:to] with text.
type byteEdit struct {
	from, to int
	text     string
}

// apply performs edits, which must be in order and must not overlap.
func (d *yamlDoc) apply(edits ...byteEdit) []byte {
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(out, d.src[at:e.from]...)
		out = append(out, e.text...)
		at = e.to
	}
	return append(out, d.src[at:]...)
}

// insertLines returns the edit that inserts whole lines at offset at, which is
// the start of a line or the end of the file. A missing newline at the end of
// the file stays missing.
func (d *yamlDoc) insertLines(at int, lines []string) byteEdit {
	text := strings.Join(lines, d.eol) + d.eol
	if at == len(d.src) && at > 0 && d.lineStart(at) != at {
		text = d.eol + strings.TrimSuffix(text, d.eol)
	}
	return byteEdit{at, at, text}
}
