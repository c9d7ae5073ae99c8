package yamledit

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/fault"
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
	d := &yamlDoc{src: src, lines: lineStarts(src), eol: edit.LineEnd(src), stop: len(src), root: &yaml.Node{Kind: yaml.MappingNode}, style: yamlStyle{step: 2}}
	if !utf8.Valid(src) {
		return nil, d.notText()
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var second yaml.Node
	switch err := dec.Decode(&d.node); {
	case errors.Is(err, io.EOF):
		return d, nil
	case err != nil:
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
	d.settle(root)
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

// settle moves the position of block collections with an anchor or a tag to
// their first entry. The parser reports the position of the anchor or tag,
// which is on a line above.
func (d *yamlDoc) settle(n *yaml.Node) {
	for _, c := range n.Content {
		d.settle(c)
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

// decode returns the document as plain data.
func (d *yamlDoc) decode() (v any, err error) {
	if d.node.Kind == 0 {
		return nil, nil
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

// lineStarts splits lines as in YAML 1.1, whose line breaks are LF, CR LF, CR,
// NEL, LS and PS.
func lineStarts(src []byte) []int {
	starts := []int{0}
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		i += size
		switch r {
		case '\r':
			if i < len(src) && src[i] == '\n' {
				i++
			}
		case '\n', '\u0085', '\u2028', '\u2029':
		default:
			continue
		}
		starts = append(starts, i)
	}
	return starts
}

// line returns the index in d.lines of the line that contains offset at.
func (d *yamlDoc) line(at int) int {
	low, high := 0, len(d.lines)-1
	for low < high {
		if mid := (low + high + 1) / 2; d.lines[mid] <= at {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// lineStart returns the offset of the start of the line that contains at.
func (d *yamlDoc) lineStart(at int) int { return d.lines[d.line(at)] }

// nextLine returns the offset of the line after the one that contains at, or
// the end of the document.
func (d *yamlDoc) nextLine(at int) int {
	if l := d.line(at) + 1; l < len(d.lines) {
		return d.lines[l]
	}
	return len(d.src)
}

// lineText returns the line that contains offset at, without its line break.
func (d *yamlDoc) lineText(at int) string {
	return strings.TrimRight(string(d.src[d.lineStart(at):d.nextLine(at)]), "\r\n\u0085\u2028\u2029")
}

// start returns the offset of n, including its properties (anchor, tag).
func (d *yamlDoc) start(n *yaml.Node) int { return d.offset(n.Line, n.Column) }

// offset converts the position of a node. Lines and columns start at 1, columns
// count characters, and a byte order mark has no column.
func (d *yamlDoc) offset(line, column int) int {
	if line < 1 || line > len(d.lines) {
		return len(d.src)
	}
	at := d.lines[line-1]
	if line == 1 && bytes.HasPrefix(d.src, []byte("\ufeff")) {
		at += len("\ufeff")
	}
	for i := 1; i < column && at < len(d.src); i++ {
		_, size := utf8.DecodeRune(d.src[at:])
		at += size
	}
	return at
}

// errorAt reports a problem at n as "line:column: ...".
func (d *yamlDoc) errorAt(n *yaml.Node, hint, format string, args ...any) error {
	place := strconv.Itoa(n.Line) + ":" + strconv.Itoa(n.Column)
	return fault.In(place, fault.Failed(hint, format, args...))
}

// notText reports the first byte that is not UTF-8.
func (d *yamlDoc) notText() error {
	at := 0
	for at < len(d.src) {
		r, size := utf8.DecodeRune(d.src[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	line := d.line(at)
	column := 1 + utf8.RuneCount(d.src[d.lines[line]:at])
	return d.errorAt(&yaml.Node{Line: line + 1, Column: column}, "save the file as UTF-8", "not UTF-8 text")
}

var yamlErrorLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)

// syntaxError converts an error of the parser to one with the position of the
// first character of the invalid line. The parser sometimes reports another
// line, or none.
func (d *yamlDoc) syntaxError(err error) error {
	for i, start := range d.lines {
		if bytes.HasPrefix(d.src[start:], []byte("<<<<<<< ")) {
			return d.errorAt(&yaml.Node{Line: i + 1, Column: 1}, "decide which lines of the two sides stay", "a merge left a conflict here")
		}
	}
	at := &yaml.Node{Line: 1, Column: 1}
	text := err.Error()
	var several *yaml.TypeError
	whole := errors.As(err, &several) && len(several.Errors) > 0 // the document is well-formed
	if whole {
		text = several.Errors[0]
	}
	if m := yamlErrorLine.FindStringSubmatch(text); m != nil {
		at.Line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	if !whole {
		at.Line = d.brokenLine()
	}
	at.Line = min(at.Line, len(d.lines))
	line := d.lineText(d.lines[max(at.Line, 1)-1])
	at.Column = 1 + len(line) - len(strings.TrimLeft(line, " \t"))
	return d.errorAt(at, "correct the YAML first", "%s", strings.TrimPrefix(text, "yaml: "))
}

// brokenLine returns the line, from 1, after the longest well-formed start of
// the document. A value of several lines is well-formed only as a whole, so
// some lines after an invalid one are tried too.
func (d *yamlDoc) brokenLine() int {
	holds := func(n int) bool { return wellFormed(d.src[:d.lines[n]]) } // well-formed first n lines
	for good := 0; ; {
		for bad := len(d.lines); bad-good > 1; {
			if n := (good + bad) / 2; holds(n) {
				good = n
			} else {
				bad = n
			}
		}
		next := min(good+longValue, len(d.lines)-1)
		for next > good && !holds(next) {
			next--
		}
		if next == good {
			return good + 1
		}
		good = next
	}
}

// longValue is the maximum expected number of lines of a value.
const longValue = 40

func wellFormed(src []byte) bool {
	for dec := yaml.NewDecoder(bytes.NewReader(src)); ; {
		if err := dec.Decode(new(yaml.Node)); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
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
