package edit

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlStyle is how a file indents; inserted lines follow it.
type yamlStyle struct {
	step     int  // columns per level, 0 for the default of 2
	indented bool // "- " stands deeper than its key; else in the key's column
}

// styleOf looks at the first nested mapping and the first list below root.
func styleOf(root *yaml.Node) yamlStyle {
	var s yamlStyle
	lists := 0
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && isBlock(child) && !isFlow(n) {
				deeper := child.Column - n.Column
				switch {
				case child.Kind == yaml.SequenceNode && lists == 0:
					lists++
					s.indented = deeper > 0
				case child.Kind == yaml.MappingNode && s.step == 0 && deeper > 1 && deeper < 10:
					s.step = deeper
				}
			}
			walk(child)
		}
	}
	walk(root)
	return s
}

func (s yamlStyle) columns() int { return max(s.step, 2) }

// block renders v as lines in block style. Map keys are sorted.
func (s yamlStyle) block(v any) []string {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(s.columns())
	if !s.indented {
		enc.CompactSeqIndent()
	}
	// Values are plain data, which the encoder cannot refuse.
	_ = enc.Encode(v)
	_ = enc.Close()
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// flow renders v on one line, fit to stand inside brackets.
func flow(v any) string {
	var n yaml.Node
	_ = n.Encode([]any{v})
	flatten(&n)
	text := strings.TrimSpace(strings.Join(yamlStyle{}.block(&n), " "))
	return strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
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

// oneLine renders a scalar or an empty collection as a value in block style;
// old, when quoted, lends its quotes to a string.
func oneLine(v any, old *yaml.Node) (text string, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		return "{}", len(v) == 0
	case []any:
		return "[]", len(v) == 0
	case string:
		quotes := yaml.Style(0)
		if old.Kind == yaml.ScalarNode {
			quotes = old.Style & (yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle)
		}
		if strings.ContainsAny(v, "\r\n\u0085\u2028\u2029") {
			quotes = yaml.DoubleQuotedStyle
		}
		if quotes != 0 {
			n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v, Style: quotes}
			return strings.Join(yamlStyle{}.block(n), ""), true
		}
	}
	return strings.TrimPrefix(yamlStyle{}.block(map[string]any{"k": v})[0], "k: "), true
}

// indentLines puts n spaces before every line that is not empty.
func indentLines(n int, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if l != "" {
			out[i] = strings.Repeat(" ", n) + l
		}
	}
	return out
}

// hang joins lines for a place in the middle of a line: all but the first are
// indented by n.
func (d *yamlDoc) hang(n int, lines []string) string {
	rest := append([]string{lines[0]}, indentLines(n, lines[1:])...)
	return strings.Join(rest, d.eol)
}
