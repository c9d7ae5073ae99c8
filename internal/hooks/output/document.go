package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// position is a position in a file.
type position struct{ line, column int } // from 1; 0 when unknown

// document is a document of a file, for positions. root is nil when it cannot be parsed.
type document struct {
	at     position
	root   *yaml.Node
	before int  // the number of lines before root
	folds  bool // keys are case-insensitive, as in JSON
}

// jsonDocuments returns the documents of a stream of JSON values, up to the first one that
// is not valid by RFC 8259.
func jsonDocuments(text []byte) []document {
	var docs []document
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return docs
		}
		start := int(dec.InputOffset()) - len(raw)
		line := bytes.Count(text[:start], []byte("\n"))
		d := document{at: position{line + 1, start - bytes.LastIndexByte(text[:start], '\n')}, before: line, folds: true}
		var node yaml.Node
		// Spaces keep the columns of the first line.
		indented := strings.Repeat(" ", d.at.column-1) + strings.ReplaceAll(string(raw), "\t", " ")
		if yaml.Unmarshal([]byte(indented), &node) == nil && len(node.Content) == 1 {
			d.root = node.Content[0]
		}
		docs = append(docs, d)
	}
}

// yamlDocuments returns the documents of a YAML file.
func yamlDocuments(text []byte) []document {
	var docs []document
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var node yaml.Node
		if err := dec.Decode(&node); err != nil {
			if !errors.Is(err, io.EOF) {
				return nil
			}
			return docs
		}
		d := document{at: position{node.Line, node.Column}}
		if len(node.Content) == 1 {
			d.root = node.Content[0]
			d.at = position{d.root.Line, d.root.Column}
		}
		docs = append(docs, d)
	}
}

// documentAt returns the document at an index, or an empty one.
func documentAt(docs []document, i int) document {
	if i < len(docs) {
		return docs[i]
	}
	return document{}
}

// isEmpty reports whether the document is empty.
func (d document) isEmpty() bool { return d.root != nil && d.root.Tag == "!!null" }

func (d document) positionOf(n *yaml.Node) position {
	return position{d.before + n.Line, n.Column}
}

// key returns the position of a key, or that of the document.
func (d document) key(name string) position {
	if k, _ := d.pair(name); k != nil {
		return d.positionOf(k)
	}
	return d.at
}

// value returns the position of the value of a key, or that of the document.
func (d document) value(name string) position {
	if _, v := d.pair(name); v != nil {
		return d.positionOf(v)
	}
	return d.at
}

// item returns the position of an item of the list at a key, or that of the list.
func (d document) item(name string, i int) position {
	if _, v := d.pair(name); v != nil && v.Kind == yaml.SequenceNode && i < len(v.Content) {
		return d.positionOf(v.Content[i])
	}
	return d.value(name)
}

// pair returns the last key with a name, and its value. The last one wins.
func (d document) pair(name string) (key, value *yaml.Node) {
	if d.root == nil || d.root.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := len(d.root.Content) - 2; i >= 0; i -= 2 {
		if d.same(d.root.Content[i].Value, name) {
			return d.root.Content[i], d.root.Content[i+1]
		}
	}
	return nil, nil
}

// same reports whether a key has a name for the engine.
func (d document) same(key, name string) bool {
	return key == name || d.folds && strings.EqualFold(key, name)
}

// keys returns the keys of the document.
func (d document) keys() []*yaml.Node {
	if d.root == nil || d.root.Kind != yaml.MappingNode {
		return nil
	}
	var keys []*yaml.Node
	for i := 0; i+1 < len(d.root.Content); i += 2 {
		keys = append(keys, d.root.Content[i])
	}
	return keys
}

// unknown returns the keys of the document that are not known.
func (d document) unknown(known []string) []*yaml.Node {
	var unknown []*yaml.Node
next:
	for _, k := range d.keys() {
		for _, name := range known {
			if d.same(k.Value, name) {
				continue next
			}
		}
		unknown = append(unknown, k)
	}
	return unknown
}
