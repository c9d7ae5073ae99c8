package yamledit

import (
	"fmt"
	"strconv"

	"github.com/operon-dev/operon/internal/fault"
	"go.yaml.in/yaml/v3"
)

// Document is a decoded document that can report the positions of its values.
type Document struct {
	Value map[string]any // nil for an empty document; keys are strings at all levels
	doc   *yamlDoc
}

// Decode decodes one document that is empty or whose root is a mapping. Errors
// have the form line:column.
func Decode(src []byte) (*Document, error) {
	d, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	v, err := d.decode()
	if err != nil {
		return nil, err
	}
	if v, err = stringKeys(v); err != nil {
		return nil, fault.In("1:1", err)
	}
	m, _ := v.(map[string]any)
	return &Document{Value: m, doc: d}, nil
}

// stringKeys converts keys such as 1 and true to strings, as in JSON.
func stringKeys(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			if v[k], err = stringKeys(item); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, item := range v {
			if v[i], err = stringKeys(item); err != nil {
				return nil, err
			}
		}
	case map[any]any:
		m := make(map[string]any, len(v))
		for k, item := range v {
			name := fmt.Sprint(k)
			if _, duplicate := m[name]; duplicate {
				return nil, fault.Failed("keep one of the two", "duplicate key %s in a mapping", name)
			}
			if m[name], err = stringKeys(item); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return v, nil
}

// Place returns the "line:column" of the value at path, whose elements are keys
// (string) and indices (int), or of the deepest existing value on that path.
func (y *Document) Place(path []any) string {
	s, _, _ := y.doc.find(path)
	return strconv.Itoa(max(s.node.Line, 1)) + ":" + strconv.Itoa(max(s.node.Column, 1))
}

// Line returns the line of Place.
func (y *Document) Line(path []any) int {
	s, _, _ := y.doc.find(path)
	return max(s.node.Line, 1)
}

// Text returns the scalar at path as written, or def if it comes from an alias.
func (y *Document) Text(path []any, def string) string {
	s, depth, err := y.doc.find(path)
	if err != nil || depth < len(path) || s.node.Kind != yaml.ScalarNode {
		return def
	}
	return s.node.Value
}
