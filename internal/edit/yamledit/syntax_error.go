package yamledit

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/operon-dev/operon/internal/edit/conflict"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
)

// CheckSyntax returns an error of the form "name:line:column: ..." if src is not
// well-formed YAML. src may have several documents.
func CheckSyntax(name string, src []byte) error {
	d := &yamlDoc{src: src, lines: lineStarts(src)}
	var err error
	if !utf8.Valid(src) {
		err = d.notText()
	} else if cause := parseError(src); cause != nil {
		err = d.syntaxError(cause)
	}
	if err == nil {
		return nil
	}
	return &fault.Error{Code: fault.CodeUsage, Msg: name + ":" + err.Error(), Hint: fault.HintOf(err)}
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

var yamlErrorLine = lazyregexp.New(`^(?:yaml: )?line (\d+): `)

// SyntaxError returns an error of the YAML parser with the position line:column of the
// invalid line. The parser sometimes reports another line, or none.
func SyntaxError(src []byte, err error) error {
	return (&yamlDoc{src: src, lines: lineStarts(src)}).syntaxError(err)
}

// syntaxError converts an error of the parser to one with the position of the
// first character of the invalid line. The parser sometimes reports another
// line, or none.
func (d *yamlDoc) syntaxError(err error) error {
	if line := conflict.Line(d.src); line > 0 {
		return conflict.Error(strconv.Itoa(line) + ":1")
	}
	at := &yaml.Node{Line: 1, Column: 1}
	text := err.Error()
	var several *yaml.TypeError
	whole := errors.As(err, &several) && len(several.Errors) > 0 // the document is well-formed
	if whole {
		text = several.Errors[0]
	}
	if m := yamlErrorLine().FindStringSubmatch(text); m != nil {
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

func wellFormed(src []byte) bool { return parseError(src) == nil }

// parseError returns the error of the parser, or nil if all documents are well-formed.
func parseError(src []byte) error {
	for dec := yaml.NewDecoder(bytes.NewReader(src)); ; {
		if err := dec.Decode(new(yaml.Node)); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
