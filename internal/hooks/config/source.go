package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

// path leads to a value: keys as strings, and positions in lists as numbers.
type path []any

// in is the path of something directly below p.
func (p path) in(step any) path { return append(p[:len(p):len(p)], step) }

// String is kubernetes[0].nameSelector.
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

// source is a configuration as text: its values as the engine reads them, and
// where they stand.
type source struct {
	values map[string]any
	root   *yaml.Node // nil when places are not known
	more   *yaml.Node // what a document behind the first one holds; nil: there is none, or they are empty
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): `)

// read parses text as the engine does, by way of the same library, for which
// yes is true and 010 is eight. Places come from another one.
func read(text []byte) (source, *finding.Finding) {
	var s source
	if err := kyaml.Unmarshal(text, &s.values); err != nil {
		f := &finding.Finding{Line: 1, Rule: RuleSyntax, Severity: finding.Error}
		msg := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
		if m := yamlLine.FindStringSubmatch(msg); m != nil {
			line, _ := strconv.Atoi(m[1])
			f.Line, msg = max(1, line), strings.TrimPrefix(msg, m[0])
		}
		lines := strings.Split(string(text), "\n")
		for f.Line > 1 && (f.Line > len(lines) || strings.TrimSpace(lines[f.Line-1]) == "") {
			f.Line-- // the end of what is not closed
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

// nextContent is what the next document holds that is not empty, or nil.
func nextContent(dec *yaml.Decoder) *yaml.Node {
	var doc yaml.Node
	for dec.Decode(&doc) == nil {
		if len(doc.Content) == 1 && doc.Content[0].Tag != "!!null" {
			return doc.Content[0]
		}
	}
	return nil
}

// place returns the line and column of the value at p, or as far towards it as
// the text goes; of its key, when it has one and key is asked for.
func (s source) place(p path, key bool) (line, column int) {
	n := s.node(p, key)
	if n == nil {
		return 0, 0
	}
	return n.Line, n.Column
}

// node is what place returns the place of, or nil when places are not known.
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

// child is what a step leads to, with its key in an object. Of a key that is
// there twice, the last one counts.
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
