package schema

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/jsonvalue"
)

// place is where a schema of values.schema.json applies.
type place struct {
	path    []string // the keys of the values, or nil below lists and maps
	value   *value   // the default in values.yaml, or nil
	inItems bool     // Helm does not merge defaults here
	refs    []*element
}

func (p place) field(key string) place {
	inner := place{value: p.value.field(key), inItems: p.inItems, refs: p.refs}
	if !p.inItems {
		inner.path = slices.Concat(p.path, []string{key})
	}
	return inner
}

func (p place) items() place { return place{inItems: true, refs: p.refs} }

// fromDocument converts values.schema.json, in any draft from 4 to 2020-12.
func (s *source) fromDocument(content []byte, values *value) (crdschema.Schema, error) {
	root, err := parseJSON(s.schemaFile, content)
	if err != nil {
		return nil, err
	}
	if !root.isObject() {
		if root.data == true {
			return s.object(values, nil), nil
		}
		return nil, errorAt("write a JSON schema for an object", s.schemaFile, root.line, root.column, "not a JSON schema")
	}
	s.root = root
	spec, err := s.convert(root, place{value: values})
	if err != nil {
		return nil, err
	}
	switch kindOf(spec) {
	case "object":
	case nil: // the type is not restricted
		spec = s.object(values, nil)
	default:
		return nil, errorAt("set \"type\": \"object\"", s.schemaFile, root.line, root.column, "the schema does not allow an object, but the values of a chart are one")
	}
	delete(spec, "nullable")
	return spec, nil
}

// convert returns a schema that allows at least what e allows at a place.
func (s *source) convert(e *element, p place) (crdschema.Schema, error) {
	if s.nodes++; s.nodes > maxNodes {
		s.foundAt(RuleOpen, e, "the schema has too many parts: this one accepts anything")
		return anything(), nil
	}
	if !e.isObject() {
		if _, isBool := e.data.(bool); !isBool {
			return nil, errorAt("write a JSON schema there", s.schemaFile, e.line, e.column,
				"%s is not a JSON schema", jsonvalue.WithArticle(jsonvalue.Type(e.data)))
		}
		return s.unknown(e, p), nil
	}
	schema, err := s.ownKeywords(e, p)
	if err != nil {
		return nil, err
	}
	if err := s.combine(schema, e, p); err != nil {
		return nil, err
	}
	if reference := e.get("$ref"); reference != nil {
		if err := s.include(schema, reference, p); err != nil {
			return nil, err
		}
	}
	if !isKnown(schema) && schema["enum"] == nil && !isOpen(schema) {
		description := schema["description"]
		nullable := schema["nullable"]
		schema = s.unknown(e, p)
		if description != nil {
			schema["description"] = description
		}
		if nullable != nil {
			schema["nullable"] = true
		}
	}
	s.reportDropped(e)
	return schema, nil
}

// unknown returns the schema of values that values.schema.json does not describe.
func (s *source) unknown(e *element, p place) crdschema.Schema {
	if p.value.isSet() {
		return s.fromValue(p.value)
	}
	s.foundAt(RuleOpen, e, "the schema does not say a type, so it accepts any value")
	return anything()
}

// ReferenceError is the error for a reference that operon cannot follow. Only the CRD of the chart needs it.
type ReferenceError struct{ err error }

// Error implements error.
func (e *ReferenceError) Error() string { return e.err.Error() }

// Unwrap returns the error with the hint.
func (e *ReferenceError) Unwrap() error { return e.err }

// include merges the definition that a reference names.
func (s *source) include(schema crdschema.Schema, reference *element, p place) error {
	name, _ := reference.data.(string)
	if id := strings.TrimSuffix(s.root.text("$id"), "#"); id != "" {
		name = strings.TrimPrefix(name, id)
	}
	if !strings.HasPrefix(name, "#") {
		return &ReferenceError{errorAt("copy the definition into $defs of this file, and refer to it as #/$defs/NAME", s.schemaFile, reference.line, reference.column, "$ref to %s: only references within the file are supported", name)}
	}
	target := s.root.resolve(name)
	if target == nil {
		return &ReferenceError{errorAt("correct the reference, or add the definition", s.schemaFile, reference.line, reference.column, "$ref to %s: the file does not have it", name)}
	}
	if slices.Contains(p.refs, target) {
		s.foundAt(RuleOpen, reference, "the definition %s contains itself, so it accepts any value here", name)
		if schema["type"] == nil {
			schema[preserve] = true
		}
		return nil
	}
	p.refs = append(p.refs[:len(p.refs):len(p.refs)], target)
	included, err := s.convert(target, p)
	if err != nil {
		return err
	}
	merge(schema, included)
	addRequired(schema, included)
	return nil
}

// ownKeywords converts the keywords that describe values without other schemas.
func (s *source) ownKeywords(e *element, p place) (crdschema.Schema, error) {
	schema, err := s.typeOf(e, p.value)
	if err != nil {
		return nil, err
	}
	describe(schema, description(e, p))
	switch schema["type"] {
	case "object":
		if err := s.objectKeywords(schema, e, p); err != nil {
			return nil, err
		}
	case "array":
		return schema, s.listKeywords(schema, e, p)
	case "string":
		s.stringKeywords(schema, e)
	case "integer", "number":
		s.numberKeywords(schema, e)
	}
	return schema, nil
}

func description(e *element, p place) string {
	text := e.text("description")
	if text == "" {
		text = e.text("title")
	}
	v := &value{}
	if p.value != nil {
		*v = *p.value
	}
	if text != "" {
		v.doc.text = text
	}
	if fallback := e.get("default"); !v.isSet() && fallback != nil {
		v.data = fallback.data
	}
	return v.description()
}

func (s *source) listKeywords(schema crdschema.Schema, e *element, p place) error {
	s.bounds(schema, e, "minItems", "maxItems")
	items := e.get("items")
	if items.isObject() {
		inner, err := s.convert(items, p.items())
		if err != nil {
			return err
		}
		schema["items"] = map[string]any(inner)
		return nil
	}
	if p.value != nil && len(p.value.items) > 0 && items == nil && e.get("prefixItems") == nil {
		schema["items"] = s.list(p.value)["items"]
		return nil
	}
	s.foundAt(RuleOpen, e, "the schema does not say the type of the items, so they may be anything")
	schema["items"] = map[string]any(anything())
	return nil
}

// formats are the formats that have the same meaning in JSON Schema and for an API server.
var formats = []string{"date", "date-time", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"}

func (s *source) stringKeywords(schema crdschema.Schema, e *element) {
	s.bounds(schema, e, "minLength", "maxLength")
	if pattern := e.text("pattern"); pattern != "" {
		if _, err := regexp.Compile(pattern); schema["pattern"] != nil {
			s.foundAt(ruleKeyword, e.get("pattern"), "the CRD has the values of enum instead")
		} else if err != nil {
			s.foundAt(ruleKeyword, e.get("pattern"), "the API server does not support the regular expression, so the CRD does not have it")
		} else {
			schema["pattern"] = pattern
		}
	}
	if format := e.text("format"); slices.Contains(formats, format) {
		schema["format"] = format
	} else if format != "" {
		s.foundAt(ruleKeyword, e.get("format"), "the API server does not check the format %s, so the CRD does not have it", format)
	}
}

func (s *source) numberKeywords(schema crdschema.Schema, e *element) {
	for _, bound := range []string{"minimum", "maximum"} {
		exclusive := "exclusive" + strings.ToUpper(bound[:1]) + bound[1:]
		if v := e.get(bound); v != nil && isNumber(v.data) {
			schema[bound] = v.data
		}
		if v := e.get(exclusive); v != nil && v.data == true && schema[bound] != nil { // draft 4
			schema[exclusive] = true
		} else if v != nil && isNumber(v.data) && schema[bound] == nil {
			schema[bound], schema[exclusive] = v.data, true
		}
	}
	if step := e.get("multipleOf"); step != nil && isNumber(step.data) && fmt.Sprint(step.data) != "0" {
		schema["multipleOf"] = step.data
	}
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}

// bounds copies keywords whose values are counts.
func (s *source) bounds(schema crdschema.Schema, e *element, keys ...string) {
	for _, key := range keys {
		if v := e.get(key); v != nil {
			if n, isInt := v.data.(int64); isInt && n >= 0 {
				schema[key] = n
			}
		}
	}
}

// dropped are the keywords that restrict values and that a schema of a CRD cannot express.
var dropped = []string{
	"if", "not", "dependencies", "dependentRequired", "dependentSchemas", "propertyNames", "contains", "minContains", "maxContains",
	"prefixItems", "additionalItems", "unevaluatedItems", "unevaluatedProperties", "$dynamicRef", "$recursiveRef", "contentSchema",
}

func (s *source) reportDropped(e *element) {
	for _, key := range e.keys {
		v := e.fields[key]
		if slices.Contains(dropped, key) || key == "uniqueItems" && v.data == true || key == "items" && v.items != nil {
			s.foundAt(ruleKeyword, v, "a CRD cannot express it; Helm checks it when it renders the chart")
		}
	}
}

func (s *source) foundAt(rule finding.Rule, e *element, format string, args ...any) {
	s.found(rule, s.schemaFile, e.line, e.column, "%s: %s", cmp.Or(e.name, "the values"), fmt.Sprintf(format, args...))
}
