package bundlecheck

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// parse returns the document in a file, without its object, and reports keys that occur twice.
//
// OLM reads the first document of a file, and of several equal keys the last one: its parser
// (sigs.k8s.io/yaml in opm, OLM and operator-controller) hides such mistakes. Parsers of kustomize
// and of the commands for catalogs refuse the file.
func (x *input) parse(name string) *document {
	d := &document{file: name, src: x.files[name], Unstructured: &unstructured.Unstructured{Object: map[string]any{}}}
	for dec := yaml.NewDecoder(bytes.NewReader(d.src)); ; {
		var doc yaml.Node
		if err := dec.Decode(&doc); err != nil {
			if !errors.Is(err, io.EOF) {
				d.invalid = err
			}
			return d
		}
		x.uniqueKeys(name, &doc)
		if root := doc.Content[0]; d.root == nil && root.Kind == yaml.MappingNode {
			d.root = root
		}
	}
}

// strict reports why a strict parser cannot read a file that OLM can read.
func (x *input) strict(d *document) {
	if d.invalid != nil {
		line, message := lineOf(d.invalid)
		x.reportLine(StrictYAML, d.file, line, "%s", message)
	}
}

// uniqueKeys reports keys that occur more than once in a mapping.
func (x *input) uniqueKeys(name string, node *yaml.Node) {
	type key struct {
		kind  yaml.Kind
		value string
	}
	first := map[key]int{}
	for i, child := range node.Content {
		x.uniqueKeys(name, child)
		if node.Kind != yaml.MappingNode || i%2 == 1 {
			continue
		}
		k := key{child.Kind, child.Value}
		if line, known := first[k]; known {
			f := StrictYAML.At(name, child.Line, child.Column, "%s also occurs on line %d; OLM reads the last one", child.Value, line)
			f.Fix = StrictYAML.Fix
			x.found = append(x.found, f)
			continue
		}
		first[k] = child.Line
	}
}
