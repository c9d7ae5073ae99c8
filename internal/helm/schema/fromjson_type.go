package schema

import (
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/jsonvalue"
)

// typeOf converts type, enum and const.
func (s *source) typeOf(e *element, v *value) (crdschema.Schema, error) {
	schema := crdschema.Schema{}
	types, err := s.typeNames(e, v)
	if err != nil {
		return nil, err
	}
	values, hasEnum := e.enum()
	if i := slices.Index(types, "null"); i >= 0 {
		types = slices.Delete(types, i, i+1)
		schema["nullable"] = true
	}
	if nullable := e.get("nullable"); nullable != nil && nullable.data == true || slices.Contains(values, nil) {
		schema["nullable"] = true
	}
	slices.Sort(types)
	joined := strings.Join(types, " ")
	switch {
	case len(types) == 1:
		schema["type"] = types[0]
	case joined == "integer string":
		schema["x-kubernetes-int-or-string"] = true
	case joined == "integer number":
		schema["type"] = "number"
	case len(types) > 1:
		schema[preserve] = true
		s.foundAt(RuleOpen, e, "values may have several types (%s), so it accepts any", strings.Join(types, ", "))
	case schema["nullable"] == true && !hasEnum && e.get("type") != nil:
		schema[preserve] = true
		s.foundAt(RuleOpen, e, "the only type is null, so it accepts any value")
	}
	if hasEnum {
		s.setEnum(schema, e, values)
	}
	return schema, nil
}

// setEnum sets the allowed values. An API server refuses null for each enum, even if the list
// has it, but not for a pattern.
func (s *source) setEnum(schema crdschema.Schema, e *element, values []any) {
	if schema["type"] == nil && schema["x-kubernetes-int-or-string"] == nil {
		schema[preserve] = true
	}
	values = slices.DeleteFunc(values, func(v any) bool { return v == nil })
	switch {
	case len(values) == 0:
	case schema["nullable"] != true:
		schema["enum"] = values
	case schema["type"] == "string":
		var texts []string
		for _, v := range values {
			if text, isText := v.(string); isText {
				texts = append(texts, regexp.QuoteMeta(text))
			}
		}
		schema["pattern"] = "^(" + strings.Join(texts, "|") + ")$"
	default:
		s.foundAt(ruleKeyword, e, "a CRD cannot have null among other values, so it does not have enum")
	}
}

// typeNames returns the types of a schema, or the one that its other keywords and the default
// imply.
func (s *source) typeNames(e *element, v *value) ([]string, error) {
	types := e.strings("type")
	if name := e.text("type"); name != "" {
		types = []string{name}
	}
	for _, name := range types {
		if !slices.Contains([]string{"object", "array", "string", "boolean", "integer", "number", "null"}, name) {
			at := e.get("type")
			return nil, errorAt("use object, array, string, boolean, integer, number or null", s.schemaFile, at.line, at.column, "%q is not a type of JSON schemas", name)
		}
	}
	if len(types) > 0 {
		return types, nil
	}
	values, _ := e.enum()
	for _, v := range values {
		if name := jsonvalue.Type(v); !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	if len(types) > 0 {
		return types, nil
	}
	return impliedType(e, v), nil
}

// impliedType returns the type of a schema without type. Some generators write keywords of
// several types: the default decides.
func impliedType(e *element, v *value) []string {
	var types []string
	for _, implied := range []struct {
		name string
		keys []string
	}{
		{"object", []string{"properties", "additionalProperties", "patternProperties", "required"}},
		{"array", []string{"items", "prefixItems", "minItems", "maxItems"}},
		{"string", []string{"pattern", "minLength", "maxLength"}},
		{"number", []string{"minimum", "maximum", "multipleOf"}},
	} {
		if slices.ContainsFunc(implied.keys, func(key string) bool {
			return e.get(key) != nil && (key != "required" || len(e.get(key).items) > 0)
		}) {
			types = append(types, implied.name)
		}
	}
	if v.isSet() {
		own := strings.Replace(jsonvalue.Type(v.data), "integer", "number", 1)
		types = slices.DeleteFunc(types, func(name string) bool { return name != own })
	}
	if len(types) > 1 {
		return nil
	}
	return types
}

// enum returns the values of enum or const.
func (e *element) enum() (values []any, exists bool) {
	if only := e.get("const"); only != nil {
		return []any{only.data}, true
	}
	if list := e.get("enum"); list != nil && len(list.items) > 0 {
		for _, item := range list.items {
			values = append(values, item.data)
		}
		return values, true
	}
	return nil, false
}
