package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"go.yaml.in/yaml/v3"
)

// Mistake is why a strict parser refuses a file in YAML.
type Mistake struct {
	Line, Column int  // from 1
	Syntax       bool // OLM cannot read the document either
	Text         string
}

// Strict returns the documents in a file that are not empty, and why strict parsers refuse the file.
//
// OLM reads the first document of a file, and of several equal keys the last one: its parser
// (sigs.k8s.io/yaml in opm, OLM and operator-controller) hides such mistakes. Parsers of kustomize and of
// catalogs refuse the file.
func Strict(src []byte) (docs []*yaml.Node, mistakes []Mistake) {
	for dec := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var doc yaml.Node
		if err := dec.Decode(&doc); err != nil {
			if !errors.Is(err, io.EOF) {
				mistakes = append(mistakes, syntaxMistake(src, err))
			}
			return docs, mistakes
		}
		if len(doc.Content) > 0 {
			docs = append(docs, doc.Content[0])
			mistakes = append(append(mistakes, notJSON(&doc)...), equalKeys(&doc)...)
		}
	}
}

// ResolveAsOLM gives the scalars in a node the values that the parser of opm and OLM reads: by YAML 1.1, y and off are
// booleans, no scalar is a date, and keys are strings.
func ResolveAsOLM(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && node.Style == 0 {
		switch node.Value {
		case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
			node.Tag, node.Value = "!!bool", "true"
		case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
			node.Tag, node.Value = "!!bool", "false"
		}
		if node.Tag == "!!timestamp" {
			node.Tag = "!!str"
		}
	}
	for i, child := range node.Content {
		ResolveAsOLM(child)
		var key any
		other := slices.Contains([]string{"!!bool", "!!int", "!!float"}, child.Tag)
		if node.Kind == yaml.MappingNode && i%2 == 0 && other && child.Decode(&key) == nil {
			child.Tag, child.Value = "!!str", fmt.Sprint(key)
		}
	}
}

// notJSON returns the keys and values that YAML has and JSON lacks. The parser of opm and OLM refuses them without a position.
func notJSON(node *yaml.Node) (mistakes []Mistake) {
	for i, child := range node.Content {
		mistakes = append(mistakes, notJSON(child)...)
		var number float64
		isKey, text := node.Kind == yaml.MappingNode && i%2 == 0, ""
		switch {
		case isKey && child.ShortTag() == "!!null":
			text = "a key is null"
		case isKey && (child.Kind == yaml.MappingNode || child.Kind == yaml.SequenceNode):
			text = "a key is a list or a mapping"
		case !isKey && child.ShortTag() == "!!float" && child.Decode(&number) == nil && (math.IsNaN(number) || math.IsInf(number, 0)):
			text = child.Value + " is not a number in JSON"
		default:
			continue
		}
		mistakes = append(mistakes, Mistake{Line: child.Line, Column: child.Column, Syntax: true, Text: text})
	}
	return mistakes
}

// equalKeys returns the keys that occur more than once in a mapping.
func equalKeys(node *yaml.Node) (mistakes []Mistake) {
	type key struct {
		kind  yaml.Kind
		value string
	}
	first := map[key]int{}
	for i, child := range node.Content {
		mistakes = append(mistakes, equalKeys(child)...)
		if node.Kind != yaml.MappingNode || i%2 == 1 {
			continue
		}
		k := key{child.Kind, child.Value}
		if line, known := first[k]; known {
			text := fmt.Sprintf("%s also occurs on line %d; OLM reads the last one", child.Value, line)
			mistakes = append(mistakes, Mistake{Line: child.Line, Column: child.Column, Text: text})
			continue
		}
		first[k] = child.Line
	}
	return mistakes
}

// syntaxMistake returns an error of the parser with the position of the invalid line.
func syntaxMistake(src []byte, err error) Mistake {
	m := Mistake{Syntax: true}
	var line, column string
	line, m.Text, _ = strings.Cut(yamledit.SyntaxError(src, err).Error(), ":")
	column, m.Text, _ = strings.Cut(m.Text, ": ")
	m.Line, _ = strconv.Atoi(line)
	m.Column, _ = strconv.Atoi(column)
	return m
}

// CheckStrict returns the first mistake in a file as an error.
func CheckStrict(name string, src []byte) error {
	_, mistakes := Strict(src)
	if len(mistakes) == 0 {
		return nil
	}
	m := mistakes[0]
	return fault.Usage("correct the YAML; operon bundle validate lists all problems", "%s:%d:%d: %s", name, m.Line, m.Column, m.Text)
}
