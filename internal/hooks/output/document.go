package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// position is a position in a file.
type position struct{ line, column int } // from 1; 0 if unknown

// document has the positions in a document of a file.
type document struct {
	at              position
	root            *yaml.Node // nil if the document is invalid
	firstLine       int        // the number of lines before the text from which root was parsed
	caseInsensitive bool       // the engine ignores the case of keys, as in JSON
}

// jsonDocuments returns the documents of a stream of JSON values, up to the first one that
// violates RFC 8259.
func jsonDocuments(text []byte) []document {
	var docs []document
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return docs
		}
		start := int(dec.InputOffset()) - len(raw)
		line := bytes.Count(text[:start], []byte("\n"))
		d := document{at: position{line + 1, start - bytes.LastIndexByte(text[:start], '\n')}, firstLine: line, caseInsensitive: true}
		var node yaml.Node
		// Spaces preserve the columns of the first line.
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

func (d document) isEmpty() bool { return d.root != nil && d.root.Tag == "!!null" }

// positionOf returns the position of a node in the file.
func (d document) positionOf(n *yaml.Node) position {
	return position{d.firstLine + n.Line, n.Column}
}

// key returns the position of a key, or of the document if it has no such key.
func (d document) key(name string) position {
	if k, _, found := d.pair(name); found {
		return d.positionOf(k)
	}
	return d.at
}

// value returns the position of the value of a key, or of the document if it has no such key.
func (d document) value(name string) position {
	if _, v, found := d.pair(name); found {
		return d.positionOf(v)
	}
	return d.at
}

// item returns the position of an item in the list at a key, or of the list if it has no such
// item.
func (d document) item(name string, i int) position {
	if _, v, found := d.pair(name); found && v.Kind == yaml.SequenceNode && i < len(v.Content) {
		return d.positionOf(v.Content[i])
	}
	return d.value(name)
}

// pair returns the last key with a name, and its value. Of duplicate keys, the last one wins.
func (d document) pair(name string) (key, value *yaml.Node, found bool) {
	if d.root == nil || d.root.Kind != yaml.MappingNode {
		return nil, nil, false
	}
	for i := len(d.root.Content) - 2; i >= 0; i -= 2 {
		if d.same(d.root.Content[i].Value, name) {
			return d.root.Content[i], d.root.Content[i+1], true
		}
	}
	return nil, nil, false
}

// same reports whether the engine reads a key as a name.
func (d document) same(key, name string) bool {
	return key == name || d.caseInsensitive && strings.EqualFold(key, name)
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

// unknownKeys returns the keys of the document that are not known.
func (d document) unknownKeys(known []string) []*yaml.Node {
	return slices.DeleteFunc(d.keys(), func(k *yaml.Node) bool {
		return slices.ContainsFunc(known, func(name string) bool { return d.same(k.Value, name) })
	})
}
