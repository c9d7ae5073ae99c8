package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// place is where something stands in a file.
type place struct{ line, column int } // from 1; 0 when unknown

// document is one of a file's documents as text: where it begins, and its tree,
// or nil when that is not known.
type document struct {
	at     place
	root   *yaml.Node
	before int  // the lines of the file before the first of the tree
	folds  bool // keys are told apart without their case, as in JSON
}

// jsonDocuments finds the documents in a stream of JSON values, as far as it is
// one by the letter of RFC 8259.
func jsonDocuments(text []byte) []document {
	var docs []document
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return docs
		}
		start := int(dec.InputOffset()) - len(raw)
		line := bytes.Count(text[:start], []byte("\n"))
		d := document{at: place{line + 1, start - bytes.LastIndexByte(text[:start], '\n')}, before: line, folds: true}
		var node yaml.Node
		// Spaces keep columns right on the line that the document begins in.
		indented := strings.Repeat(" ", d.at.column-1) + strings.ReplaceAll(string(raw), "\t", " ")
		if yaml.Unmarshal([]byte(indented), &node) == nil && len(node.Content) == 1 {
			d.root = node.Content[0]
		}
		docs = append(docs, d)
	}
}

// yamlDocuments finds the documents of a YAML file.
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
		d := document{at: place{node.Line, node.Column}}
		if len(node.Content) == 1 {
			d.root = node.Content[0]
			d.at = place{d.root.Line, d.root.Column}
		}
		docs = append(docs, d)
	}
}

// documentAt is the document of an index, or one of which nothing is known.
func documentAt(docs []document, i int) document {
	if i < len(docs) {
		return docs[i]
	}
	return document{}
}

// isEmpty reports whether there is nothing in the document.
func (d document) isEmpty() bool { return d.root != nil && d.root.Tag == "!!null" }

func (d document) placeOf(n *yaml.Node) place {
	return place{d.before + n.Line, n.Column}
}

// key returns the place of a key of the document, or that of the document.
func (d document) key(name string) place {
	if k, _ := d.pair(name); k != nil {
		return d.placeOf(k)
	}
	return d.at
}

// value returns the place of the value of a key, or that of the document.
func (d document) value(name string) place {
	if _, v := d.pair(name); v != nil {
		return d.placeOf(v)
	}
	return d.at
}

// item returns the place of an item of the list below a key, or that of the list.
func (d document) item(name string, i int) place {
	if _, v := d.pair(name); v != nil && v.Kind == yaml.SequenceNode && i < len(v.Content) {
		return d.placeOf(v.Content[i])
	}
	return d.value(name)
}

// pair is the last key of a name, which counts, with its value.
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

// same reports whether the engine takes a key for the one of a name.
func (d document) same(key, name string) bool {
	return key == name || d.folds && strings.EqualFold(key, name)
}

// keys are all keys of the document, as they are written.
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

// unknown returns the keys of the document that are none of the known ones.
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
