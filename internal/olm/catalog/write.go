package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// YAML returns documents as a stream of YAML. A document is a type of this package, or a YAML
// node.
func YAML(docs []any) ([]byte, error) {
	var b bytes.Buffer
	for _, d := range docs {
		b.WriteString("---\n")
		enc := yaml.NewEncoder(&b)
		enc.SetIndent(2)
		if err := enc.Encode(d); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// JSON returns documents as a stream of JSON objects, indented by four blanks, as opm prints
// them.
func JSON(docs []any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "    ")
	enc.SetEscapeHTML(false)
	for _, d := range docs {
		if node, ok := d.(*yaml.Node); ok {
			var value map[string]any
			if err := node.Decode(&value); err != nil {
				return nil, fmt.Errorf("line %d: %w", node.Line, err)
			}
			d = value
		}
		if err := enc.Encode(d); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
