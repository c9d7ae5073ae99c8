package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

// path is the path of a value: strings for keys, integers for list indices.
type path []any

// in returns the path of a direct child of p.
func (p path) in(step any) path { return append(p[:len(p):len(p)], step) }

// String returns the path in the form kubernetes[0].nameSelector.
func (p path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

// source is the text of a configuration: its values as the engine reads them, and their
// positions.
type source struct {
	values map[string]any
	root   *yaml.Node // nil if positions are unknown
	more   *yaml.Node // the first further document with content, or nil
}

var yamlLine = lazyregexp.New(`^yaml: line (\d+): `)

// read parses text with the engine's library, for which yes is true and 010 is eight.
// Positions come from another library.
func read(text []byte) (source, *finding.Finding) {
	var s source
	if err := kyaml.Unmarshal(text, &s.values); err != nil {
		f := &finding.Finding{Line: 1, Rule: RuleSyntax, Severity: finding.Error}
		msg := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
		if m := yamlLine().FindStringSubmatch(msg); m != nil {
			line, _ := strconv.Atoi(m[1])
			f.Line, msg = max(1, line), strings.TrimPrefix(msg, m[0])
		}
		lines := strings.Split(string(text), "\n")
		for f.Line > 1 && (f.Line > len(lines) || strings.TrimSpace(lines[f.Line-1]) == "") {
			f.Line-- // the library reports the line after an unclosed value
		}
		if strings.HasPrefix(strings.TrimLeft(lines[f.Line-1], " "), "\t") {
			msg = "a tab indents, and YAML takes blanks alone"
		}
		f.Message = "the configuration is neither YAML nor JSON: " + strings.TrimPrefix(msg, "yaml: ")
		var other any
		if kyaml.Unmarshal(text, &other) == nil {
			f.Line, f.Message = 1, "the configuration must be an object, with configVersion and bindings, not "+jsonvalue.WithArticle(jsonvalue.Type(other))
		}
		return s, f
	}
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	var doc yaml.Node
	if dec.Decode(&doc) == nil && len(doc.Content) == 1 {
		s.root = doc.Content[0]
		s.more = nextContent(dec)
	}
	return s, nil
}

// nextContent returns the content of the next non-empty document, or nil.
func nextContent(dec *yaml.Decoder) *yaml.Node {
	var doc yaml.Node
	for dec.Decode(&doc) == nil {
		if len(doc.Content) == 1 && doc.Content[0].Tag != "!!null" {
			return doc.Content[0]
		}
	}
	return nil
}

// place returns the position of the value at p, or of its key if key is set. If the text
// lacks p, it returns the position of the closest parent.
func (s source) place(p path, key bool) (line, column int) {
	n := s.node(p, key)
	if n == nil {
		return 0, 0
	}
	return n.Line, n.Column
}

// node returns the node whose position place returns, or nil if positions are unknown.
func (s source) node(p path, key bool) *yaml.Node {
	node := s.root
	if node == nil {
		return nil
	}
	at := node
	for i, step := range p {
		if node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		name, next := child(node, step)
		if next == nil {
			break
		}
		node, at = next, next
		if key && i == len(p)-1 && name != nil {
			at = name
		}
	}
	return at
}

// child returns the value for a path step, with its key in a mapping. The last of
// duplicate keys counts.
func child(node *yaml.Node, step any) (key, value *yaml.Node) {
	switch s := step.(type) {
	case int:
		if node.Kind == yaml.SequenceNode && s < len(node.Content) {
			return nil, node.Content[s]
		}
	case string:
		if node.Kind != yaml.MappingNode {
			return nil, nil
		}
		for i := len(node.Content) - 2; i >= 0; i -= 2 {
			if keyOf(node.Content[i]) == s {
				return node.Content[i], node.Content[i+1]
			}
		}
	}
	return nil, nil
}
