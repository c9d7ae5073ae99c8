package schema

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
)

// doc is what comments say about a value.
type doc struct {
	text     string
	typ      string // a type such as string, int or list, or ""
	fallback string // the default as the comment states it, or ""
	nullable bool
}

// comments finds the comments of values in three forms: helm-docs (# -- text), Bitnami's readme
// generator (## @param path [type] text), and plain comments above a key or behind its value.
type comments struct {
	lines  []string
	params map[string]doc // of @param and @extra, by path
}

var (
	param       = lazyregexp.New(`^#+\s*@(?:param|extra)\s+(\S+)\s*(?:\[([^\]]*)\])?\s*(.*)$`)
	helmDocs    = lazyregexp.New(`^#\s*(?:([\w."\[\]/-]+)\s+)?--(?:\s+(.*))?$`)
	typeHint    = lazyregexp.New(`^\(([\w/]+)\)\s*(.*)$`)
	defaultText = lazyregexp.New(`^@default -- ?(.*)$`)
	code        = lazyregexp.New(`^(?:- .*|-|[A-Za-z_"'][\w."'/-]*:(?: .*)?|[{}\[\]]+)$`)
)

func newComments(content []byte) comments {
	c := comments{params: map[string]doc{}}
	for line := range bytes.Lines(content) {
		text := strings.TrimSpace(string(line))
		c.lines = append(c.lines, text)
		if m := param().FindStringSubmatch(text); m != nil {
			d := doc{text: m[3]}
			for modifier := range strings.SplitSeq(m[2], ",") {
				name, argument, _ := strings.Cut(strings.TrimSpace(modifier), ":")
				switch name {
				case "default":
					d.fallback = strings.TrimSpace(argument)
				case "nullable":
					d.nullable = true
				default:
					d.typ = name
				}
			}
			c.params[m[1]] = d
		}
	}
	return c
}

// of returns the documentation of a key.
func (c comments) of(path []string, key, item *yaml.Node) doc {
	if d, found := c.params[strings.Join(path, ".")]; found {
		return d
	}
	d := parseComment(c.above(key.Line))
	if d.text == "" && item.Kind != yaml.MappingNode {
		d.text = strings.TrimPrefix(plainText([]string{cmp.Or(key.LineComment, item.LineComment)}), "-- ")
	}
	return d
}

// above returns the comment lines directly above a line, which counts from 1.
func (c comments) above(line int) []string {
	end := min(line-1, len(c.lines))
	start := end
	for start > 0 && strings.HasPrefix(c.lines[start-1], "#") {
		start--
	}
	return c.lines[start:end]
}

func parseComment(lines []string) doc {
	for i, v := range slices.Backward(lines) {
		if m := helmDocs().FindStringSubmatch(v); m != nil {
			return parseHelmDocs(m[2], lines[i+1:])
		}
	}
	return doc{text: plainText(lines)}
}

// parseHelmDocs parses a comment of helm-docs, which may have annotations that start with @.
func parseHelmDocs(first string, more []string) doc {
	var d doc
	if m := typeHint().FindStringSubmatch(first); m != nil {
		d.typ, first = m[1], m[2]
	}
	text := []string{first}
	for _, line := range more {
		line = strings.TrimSpace(strings.TrimLeft(line, "#"))
		if m := defaultText().FindStringSubmatch(line); m != nil {
			d.fallback = m[1]
		} else if strings.HasPrefix(line, "@ignore") {
			return doc{typ: d.typ}
		} else if !strings.HasPrefix(line, "@") {
			text = append(text, line)
		}
	}
	d.text = strings.TrimSpace(strings.Join(text, "\n"))
	return d
}

// plainText returns the text of comment lines without annotations, banners and YAML that is
// commented out.
func plainText(lines []string) string {
	var kept []string
	annotated, indent := false, -1 // indent of YAML that is commented out, or -1
	for _, line := range lines {
		line = strings.TrimRight(strings.TrimLeft(line, "#"), "# \t")
		text := strings.TrimSpace(line)
		spaces := len(line) - len(strings.TrimLeft(line, " \t"))
		switch {
		case text == "@schema": // a block of helm-schema
			annotated = !annotated
		case annotated, strings.HasPrefix(text, "@"):
		case indent >= 0 && spaces > indent && text != "":
		case code().MatchString(text):
			indent = spaces
		case !strings.ContainsFunc(text, isLetterOrDigit):
			indent = -1
			if len(kept) > 0 && text == "" {
				kept = append(kept, "")
			}
		default:
			indent = -1
			kept = append(kept, text)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

func isLetterOrDigit(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 127
}
