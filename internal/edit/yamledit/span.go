package yamledit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The parser reports only the start of a node. The functions below find its end:
// the decoded value gives the words of a plain scalar, and the last child gives
// the end of a collection.

// end returns the offset after the last byte of n, without trailing comments
// and line breaks. indent is the column (from 0) of the block collection that
// contains n, or -1 for the root.
func (d *yamlDoc) end(n *yaml.Node, indent int) (int, error) {
	at := d.start(n)
	if isBlock(n) && len(n.Content) > 0 {
		return d.end(n.Content[len(n.Content)-1], n.Column-1)
	}
	body, bare := d.skipProperties(at)
	switch {
	case n.Kind == yaml.AliasNode:
		return d.word(at), nil
	case n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
		return d.flowEnd(n, body)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return d.quotedEnd(n, body, '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return d.quotedEnd(n, body, '\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return d.blockScalarEnd(body, indent), nil
	case n.Value == "":
		return bare, nil
	}
	return d.plainEnd(n, body)
}

// skipProperties returns the offset of the content after an anchor and a tag,
// and the end of these properties.
func (d *yamlDoc) skipProperties(at int) (body, bare int) {
	body, bare = at, at
	for body < len(d.src) && (d.src[body] == '&' || d.src[body] == '!') {
		bare = d.word(body)
		body = d.skipSpace(bare)
	}
	return body, bare
}

// word returns the end of the anchor, tag or alias at offset at.
func (d *yamlDoc) word(at int) int {
	for at < len(d.src) {
		r, size := utf8.DecodeRune(d.src[at:])
		if unicode.IsSpace(r) || strings.ContainsRune(",[]{}", r) {
			break
		}
		at += size
	}
	return at
}

// skipSpace skips white space, line breaks and comments.
func (d *yamlDoc) skipSpace(at int) int {
	for at < len(d.src) {
		r, size := utf8.DecodeRune(d.src[at:])
		switch {
		case unicode.IsSpace(r):
			at += size
		case r == '#':
			at = d.nextLine(at)
		default:
			return at
		}
	}
	return at
}

// unknownEnd is the error if the end of a value is not found.
func (d *yamlDoc) unknownEnd(n *yaml.Node) error {
	return d.errorAt(n, "edit the file by hand, or write the value on one line", "cannot find the end of this value")
}

func (d *yamlDoc) plainEnd(n *yaml.Node, at int) (int, error) {
	for i, word := range strings.Fields(n.Value) {
		for i > 0 && at < len(d.src) {
			r, size := utf8.DecodeRune(d.src[at:])
			if !unicode.IsSpace(r) {
				break
			}
			at += size
		}
		if !strings.HasPrefix(string(d.src[at:]), word) {
			return 0, d.unknownEnd(n)
		}
		at += len(word)
	}
	return at, nil
}

func (d *yamlDoc) quotedEnd(n *yaml.Node, at int, quote byte) (int, error) {
	if at >= len(d.src) || d.src[at] != quote {
		return 0, d.unknownEnd(n)
	}
	for at++; at < len(d.src); at++ {
		c := d.src[at]
		switch {
		case c == '\\' && quote == '"':
			at++
		case c == quote && quote == '\'' && at+1 < len(d.src) && d.src[at+1] == quote:
			at++
		case c == quote:
			return at + 1, nil
		}
	}
	return 0, d.unknownEnd(n)
}

func (d *yamlDoc) flowEnd(n *yaml.Node, body int) (int, error) {
	if body >= len(d.src) {
		return 0, d.unknownEnd(n)
	}
	shut := map[byte]byte{'{': '}', '[': ']'}[d.src[body]]
	at := body + 1
	if last := len(n.Content) - 1; last >= 0 {
		var err error
		if at, err = d.end(n.Content[last], -1); err != nil {
			return 0, err
		}
		if shut == 0 { // "[a: b]" contains a mapping without braces
			return at, nil
		}
	}
	for at = d.skipSpace(at); at < len(d.src) && d.src[at] == ','; {
		at = d.skipSpace(at + 1)
	}
	if shut == 0 || at >= len(d.src) || d.src[at] != shut {
		return 0, d.unknownEnd(n)
	}
	return at + 1, nil
}

// blockScalarEnd returns the end of the last content line of a literal or
// folded scalar whose header is at offset at.
func (d *yamlDoc) blockScalarEnd(at, indent int) int {
	header := d.src[at:d.word(at)]
	keep := strings.ContainsRune(string(header), '+')
	content := 0
	for _, c := range header {
		if c >= '1' && c <= '9' {
			content = max(indent, 0) + int(c-'0')
		}
	}
	end := at + len(header)
	for line := d.nextLine(at); line < len(d.src); line = d.nextLine(line) {
		text := d.lineText(line)
		spaces := len(text) - len(strings.TrimLeft(text, " "))
		blank := spaces == len(text)
		if content == 0 && !blank {
			content = max(spaces, indent+1, 1)
		}
		switch {
		case !blank && spaces < content:
			return end
		case blank && !keep && (content == 0 || spaces <= content):
		default:
			end = line + len(text)
		}
	}
	return end
}

// colon returns the offset after the ":" that follows key.
func (d *yamlDoc) colon(key *yaml.Node) (int, error) {
	at, err := d.end(key, -1)
	if err != nil {
		return 0, err
	}
	for at < len(d.src) && (d.src[at] == ' ' || d.src[at] == '\t') {
		at++
	}
	if at >= len(d.src) || d.src[at] != ':' {
		return 0, d.errorAt(key, "write the key as \"key: value\"", "a key of a form that cannot be edited")
	}
	return at + 1, nil
}

// dash returns the offset of the "-" before item i of a block sequence. It is
// in the column of the sequence, on the line of the item or above.
func (d *yamlDoc) dash(seq *yaml.Node, i int) (int, error) {
	item := seq.Content[i]
	for line := item.Line; line >= seq.Line; line-- {
		if at := d.offset(line, seq.Column); at < len(d.src) && d.line(at) == line-1 && d.src[at] == '-' {
			return at, nil
		}
	}
	return 0, d.errorAt(item, "write the list with one item per line", "cannot find the dash of this item")
}

// tail returns the offset of the first line after end that does not belong to
// the block collection in column indent. Comments with a deeper indentation
// belong to it.
func (d *yamlDoc) tail(end, indent int) int {
	at := d.nextLine(end)
	for at < d.stop {
		text := d.lineText(at)
		trimmed := strings.TrimLeft(text, " ")
		if !strings.HasPrefix(trimmed, "#") || len(text)-len(trimmed) <= indent {
			break
		}
		at = d.nextLine(at)
	}
	return at
}

// startsLine reports whether only white space precedes at on its line.
func (d *yamlDoc) startsLine(at int) bool {
	return strings.TrimLeft(string(d.src[d.lineStart(at):at]), " \t\ufeff") == ""
}
