package schema

import (
	"encoding/json"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/jsonvalue"
)

// fromValue returns the schema for values such as v, the default of a key.
func (s *source) fromValue(v *value) crdschema.Schema {
	schema := s.typed(v)
	if v.doc.nullable {
		schema["nullable"] = true
	}
	return describe(schema, v.description())
}

func (s *source) typed(v *value) crdschema.Schema {
	if s.nodes++; s.nodes > maxNodes {
		s.openValue(v, "the schema has too many values: this one accepts anything")
		return anything()
	}
	if schema, isShape := s.shape(v); isShape {
		return schema
	}
	switch data := v.data.(type) {
	case bool:
		return ofType("boolean")
	case string:
		return ofType("string")
	case int64, float64:
		if v.isFloat {
			return ofType("number")
		}
		return ofType("integer")
	case map[string]any:
		if len(data) == 0 {
			s.openValue(v, "the default is an empty mapping, so it accepts any fields")
			return openObject()
		}
		return s.object(v, v.path)
	case []any:
		return s.list(v)
	}
	return s.fromHint(v)
}

// fromHint returns the schema of a value without a default.
func (s *source) fromHint(v *value) crdschema.Schema {
	if schema, known := hinted(v.doc.typ); known {
		schema["nullable"] = true
		return schema
	}
	s.openValue(v, "the default is null, so it accepts any value")
	return anything()
}

// hinted returns the schema for a type that a comment names. Only types of scalars say enough.
func hinted(typ string) (crdschema.Schema, bool) {
	switch typ {
	case "string":
		return ofType("string"), true
	case "int", "integer":
		return ofType("integer"), true
	case "float", "number":
		return ofType("number"), true
	case "bool", "boolean":
		return ofType("boolean"), true
	}
	return nil, false
}

// object returns the schema of a mapping with the keys of v.
func (s *source) object(v *value, path []string) crdschema.Schema {
	schema := objectOf(map[string]any{})
	for _, key := range v.keys {
		setProperty(schema, key, s.fromValue(v.fields[key]))
	}
	if s.uses.whole(path) {
		s.openValue(v, "a template uses all its fields, so it accepts any")
		open(schema)
	}
	return schema
}

// list returns the schema of a list. Its items are examples: further ones may have other keys.
func (s *source) list(v *value) crdschema.Schema {
	if len(v.items) == 0 {
		s.openValue(v, "the default is an empty list, so its items may be anything")
		return listOf(anything())
	}
	var all []crdschema.Schema
	for _, item := range v.items {
		all = append(all, s.item(item))
	}
	items, exact := union(all)
	switch {
	case !exact:
		s.openValue(v, "its items have different types, so they may be anything")
	case items["type"] == "object":
		s.openValue(v, "its items may have more fields than the default shows, so they accept any")
	}
	return listOf(items)
}

// item returns the schema of an item of a list. All objects in it are open.
func (s *source) item(v *value) crdschema.Schema {
	switch data := v.data.(type) {
	case map[string]any:
		schema := openObject()
		for _, key := range v.keys {
			setProperty(schema, key, describe(s.item(v.fields[key]), v.fields[key].doc.text))
		}
		return schema
	case []any:
		var all []crdschema.Schema
		for _, item := range v.items {
			all = append(all, s.item(item))
		}
		items, _ := union(all)
		return listOf(items)
	case nil:
		return anything()
	case string:
		if data == "" {
			return ofType("string")
		}
	}
	return s.typed(v)
}

// description returns the comment of a value, followed by its default.
func (v *value) description() string {
	text := v.doc.text
	if fallback := v.defaultText(); fallback != "" {
		if strings.Contains(text, "\n") {
			text += "\n"
		} else if text != "" {
			text = strings.TrimSuffix(text, ".") + ". "
		}
		text += "Default: " + fallback
	}
	return text
}

// maxDefault is the maximum length of a default in a description.
const maxDefault = 60

// defaultText returns the default for a description, or "" if it says nothing.
func (v *value) defaultText() string {
	if v.doc.fallback != "" {
		return v.doc.fallback
	}
	switch jsonvalue.Type(v.data) {
	case "null", "object":
		return ""
	}
	content, err := json.Marshal(v.data)
	if text := string(content); err == nil && len(text) <= maxDefault && text != `""` && text != "[]" {
		return text
	}
	return ""
}
