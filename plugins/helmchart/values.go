package helmchart

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"go.yaml.in/yaml/v3"
)

// schema is a JSON schema.
type schema = map[string]any

// value is a value of the chart, or a section of them.
type value struct {
	path   string // the keys, with dots
	doc    string
	preset *yaml.Node // nil for a section
	schema schema
}

// values are the values of the chart, in the order of values.yaml.
type values []value

// add adds a value. Without a preset it is empty, as its schema wants.
func (v *values) add(path, doc string, preset *yaml.Node, s schema) {
	if preset == nil {
		empty := map[string]*yaml.Node{
			"object": {Kind: yaml.MappingNode, Tag: "!!map", Style: yaml.FlowStyle},
			"array":  {Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle},
			"string": quoted(""),
		}
		kind, _ := s["type"].(string) // a list of types has null
		if preset = empty[kind]; preset == nil {
			preset = null()
		}
	}
	*v = append(*v, value{path, doc, preset, s})
}

// section adds a section.
func (v *values) section(path, doc string) { *v = append(*v, value{path: path, doc: doc}) }

// toggle adds a value that is true or false.
func (v *values) toggle(path, doc string, on bool) {
	preset := &yaml.Node{}
	_ = preset.Encode(on) // it cannot fail
	v.add(path, doc, preset, schema{"type": "boolean"})
}

// schema returns the schema of the field's value.
func (f podField) schema() schema {
	switch f.kind {
	case "list":
		return schema{"type": "array", "items": schema{"type": "object"}}
	case "text":
		return schema{"type": "string"}
	case "number":
		return schema{"type": []string{"integer", "null"}, "minimum": 0}
	}
	return schema{"type": "object"}
}

// yaml returns values.yaml.
func (v values) yaml() ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, one := range v {
		mapping, keys := root, strings.Split(one.path, ".")
		for _, key := range keys[:len(keys)-1] {
			if at(mapping, key) == nil {
				mapping.Content = append(mapping.Content, scalar(key), &yaml.Node{Kind: yaml.MappingNode})
			}
			mapping = at(mapping, key)
		}
		key := scalar(keys[len(keys)-1])
		if one.doc != "" {
			key.HeadComment = "# " + one.doc
		}
		preset := one.preset
		if preset == nil {
			preset = &yaml.Node{Kind: yaml.MappingNode}
		}
		mapping.Content = append(mapping.Content, key, preset)
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	e.CompactSeqIndent()
	if err := e.Encode(root); err != nil {
		return nil, err
	}
	return spaced(b.String()), nil
}

// spaced separates the top sections of values.yaml by empty lines.
func spaced(text string) []byte {
	var b strings.Builder
	inComment := false
	for line := range strings.Lines(text) {
		top := line[0] != ' ' && line[0] != '-' && line[0] != '\n'
		if top && !inComment && b.Len() > 0 {
			b.WriteString("\n")
		}
		inComment = top && line[0] == '#'
		b.WriteString(line)
	}
	return []byte(b.String())
}

// jsonSchema returns values.schema.json. The chart knows the keys of each section. Users can add sections.
func (v values) jsonSchema() ([]byte, error) {
	root := schema{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": schema{}}
	for _, one := range v {
		inside, keys := root, strings.Split(one.path, ".")
		for _, key := range keys[:len(keys)-1] {
			properties := inside["properties"].(schema)
			if properties[key] == nil {
				properties[key] = section("")
			}
			inside = properties[key].(schema)
		}
		properties := inside["properties"].(schema)
		if one.preset == nil {
			properties[keys[len(keys)-1]] = section(one.doc)
			continue
		}
		s := schema{"description": one.doc}
		maps.Copy(s, one.schema)
		properties[keys[len(keys)-1]] = s
	}
	content, err := json.MarshalIndent(root, "", "  ")
	return append(content, '\n'), err
}

func section(doc string) schema {
	s := schema{"type": "object", "additionalProperties": false, "properties": schema{}}
	if doc != "" {
		s["description"] = doc
	}
	return s
}
