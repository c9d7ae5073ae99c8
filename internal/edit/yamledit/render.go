package yamledit

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlStyle is the indentation of a file, which inserted lines follow.
type yamlStyle struct {
	step  int // indentation of a mapping below its key
	lists int // indentation of a list below its key
}

// styleOf derives the style from the first nested mapping and the first list
// below root.
func styleOf(root *yaml.Node) yamlStyle {
	s := yamlStyle{step: 2}
	var sawMapping, sawList bool
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && isBlock(child) && !isFlow(n) {
				deeper := child.Column - n.Column
				switch {
				case child.Kind == yaml.SequenceNode && !sawList:
					sawList, s.lists = true, deeper
				case child.Kind == yaml.MappingNode && !sawMapping:
					sawMapping, s.step = true, deeper
				}
			}
			walk(child)
		}
	}
	walk(root)
	return s
}

// block renders a mapping or a list as lines in block style, with sorted keys.
func (s yamlStyle) block(v any) []string {
	var lines []string
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			key, _ := oneLine(k, nil)
			text, short := oneLine(v[k], nil)
			if short {
				lines = append(lines, key+": "+text)
				continue
			}
			deeper := s.step
			if _, list := v[k].([]any); list {
				deeper = s.lists
			}
			lines = append(lines, key+":")
			lines = append(lines, indentLines(deeper, s.block(v[k]))...)
		}
	case []any:
		for _, item := range v {
			below := []string{}
			text, short := oneLine(item, nil)
			if !short {
				nested := s.block(item)
				text, below = nested[0], nested[1:]
			}
			lines = append(lines, "- "+text)
			lines = append(lines, indentLines(2, below)...)
		}
	}
	return lines
}

// flow renders v on one line, for use inside brackets.
func flow(v any) string {
	var n yaml.Node
	_ = n.Encode([]any{v}) // cannot fail for plain data
	flatten(&n)
	return strings.TrimSuffix(strings.TrimPrefix(encode(&n), "["), "]")
}

func flatten(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	} else if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		flatten(c)
	}
}

// oneLine renders a scalar or an empty collection as a value in block style. ok
// is false for other collections. A string is quoted like old, which may be
// nil.
func oneLine(v any, old *yaml.Node) (text string, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		return "{}", len(v) == 0
	case []any:
		return "[]", len(v) == 0
	case string:
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v}
		if old != nil && old.Kind == yaml.ScalarNode {
			n.Style = old.Style & (yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle)
		}
		if strings.ContainsAny(v, "\r\n\u0085\u2028\u2029") {
			n.Style = yaml.DoubleQuotedStyle
		}
		if n.Style != 0 {
			return encode(n), true
		}
	}
	// As a value in a mapping, because a single scalar can need fewer quotes.
	return strings.TrimPrefix(encode(map[string]any{"k": v}), "k: "), true
}

// encode returns the text of a value that fits on one line.
func encode(v any) string {
	text, _ := yaml.Marshal(v)
	return strings.TrimSuffix(string(text), "\n")
}

// indentLines puts n spaces before every non-empty line.
func indentLines(n int, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if l != "" {
			out[i] = strings.Repeat(" ", n) + l
		}
	}
	return out
}

// hang joins lines for an insertion in the middle of a line: all lines except
// the first are indented by n.
func (d *yamlDoc) hang(n int, lines []string) string {
	rest := append([]string{lines[0]}, indentLines(n, lines[1:])...)
	return strings.Join(rest, d.eol)
}
