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

// in returns the path of a child of p.
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

// source is a parsed configuration: its values as the engine reads them, and their positions.
type source struct {
	values map[string]any
	root   *yaml.Node // nil if positions are unknown
	second *yaml.Node // the second YAML document with content, or nil
}

var yamlLine = lazyregexp.New(`^yaml: line (\d+): `)

// parseSource parses a configuration with the engine's library, which reads yes as true and
// 010 as 8. Another library returns the positions. ok is false for an invalid configuration;
// the finding is the reason.
func parseSource(text []byte) (s source, f finding.Finding, ok bool) {
	if err := kyaml.Unmarshal(text, &s.values); err != nil {
		return s, syntaxError(text, err), false
	}
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	var doc yaml.Node
	if dec.Decode(&doc) == nil && len(doc.Content) == 1 {
		s.root = doc.Content[0]
		s.second = nextContent(dec)
	}
	return s, f, true
}

// syntaxError returns the finding for a text that is not a YAML object. err is the error of
// the library.
func syntaxError(text []byte, err error) finding.Finding {
	var value any
	if kyaml.Unmarshal(text, &value) == nil {
		return RuleSyntax.At("", 1, 0, "the configuration must be an object with configVersion and bindings, not %s", jsonvalue.WithArticle(jsonvalue.Type(value)))
	}
	line, message := 1, strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	if m := yamlLine().FindStringSubmatch(message); m != nil {
		n, _ := strconv.Atoi(m[1])
		line, message = max(1, n), strings.TrimPrefix(message, m[0])
	}
	lines := strings.Split(string(text), "\n")
	for line > 1 && (line > len(lines) || strings.TrimSpace(lines[line-1]) == "") {
		line-- // the library reports the line after an unclosed value
	}
	if strings.HasPrefix(strings.TrimLeft(lines[line-1], " "), "\t") {
		message = "the line is indented with a tab, but YAML allows only spaces"
	}
	return RuleSyntax.At("", line, 0, "the configuration is neither YAML nor JSON: %s", strings.TrimPrefix(message, "yaml: "))
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

// position returns the position of the value at p, or of its key if key is set. If there is
// no such value, it returns the position of the closest parent.
func (s source) position(p path, key bool) (line, column int) {
	n := s.node(p, key)
	if n == nil {
		return 0, 0
	}
	return n.Line, n.Column
}

// node returns the node at the position that position returns, or nil if positions are
// unknown.
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
		name, next, found := child(node, step)
		if !found {
			break
		}
		node, at = next, next
		if key && i == len(p)-1 && name != nil {
			at = name
		}
	}
	return at
}

// child returns the child of a node for a step of a path, and its key if the node is a
// mapping. Of duplicate keys, the last one wins.
func child(node *yaml.Node, step any) (key, value *yaml.Node, found bool) {
	switch s := step.(type) {
	case int:
		if node.Kind == yaml.SequenceNode && s < len(node.Content) {
			return nil, node.Content[s], true
		}
	case string:
		for i := len(node.Content) - 2; node.Kind == yaml.MappingNode && i >= 0; i -= 2 {
			if keyOf(node.Content[i]) == s {
				return node.Content[i], node.Content[i+1], true
			}
		}
	}
	return nil, nil, false
}
