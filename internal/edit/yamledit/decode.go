package yamledit

import (
	"fmt"
	"strconv"

	"github.com/operon-dev/operon/internal/fault"
	"go.yaml.in/yaml/v3"
)

// Document is a decoded document that still knows where its values stand, for
// errors about them.
type Document struct {
	Value map[string]any // nil for a document without content; keys are strings at all levels
	doc   *yamlDoc
}

// Decode decodes one document whose root is a mapping, or nothing. Errors
// say line:column.
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

// stringKeys turns keys such as 1 and true into strings, as JSON has them.
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
			if _, twice := m[name]; twice {
				return nil, fault.Failed("keep one of the two", "the key %s stands twice in one mapping", name)
			}
			if m[name], err = stringKeys(item); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return v, nil
}

// Place is the "line:column" of the value at path, whose elements are keys
// (string) and indices (int), or of the deepest value on the way there.
func (y *Document) Place(path []any) string {
	s, _, _ := y.doc.find(path)
	return strconv.Itoa(max(s.node.Line, 1)) + ":" + strconv.Itoa(max(s.node.Column, 1))
}

// Line is the line of Place.
func (y *Document) Line(path []any) int {
	s, _, _ := y.doc.find(path)
	return max(s.node.Line, 1)
}

// Text is the scalar at path as it is written, or def when it is not written
// there but comes from an alias.
func (y *Document) Text(path []any, def string) string {
	s, depth, err := y.doc.find(path)
	if err != nil || depth < len(path) || s.node.Kind != yaml.ScalarNode {
		return def
	}
	return s.node.Value
}
