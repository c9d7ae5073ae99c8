package crdyaml

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type props = apiextensionsv1.JSONSchemaProps

// schema writes s after a key at the given indentation. Fields are in the order of their
// JSON names; fields that are omitted in JSON are omitted.
func (e *Emitter) schema(s *props, indent int) error {
	mark := len(e.out)
	e.out = append(e.out, '\n')
	if err := e.fields(s, indent+2); err != nil {
		return err
	}
	if len(e.out) == mark+1 {
		e.out = append(e.out[:mark], " {}\n"...)
	}
	return nil
}

func (e *Emitter) fields(s *props, indent int) error {
	w := writer{Emitter: e, indent: indent}
	w.optional("$ref", s.Ref)
	w.text("$schema", string(s.Schema))
	w.schemaOrBool("additionalItems", s.AdditionalItems)
	w.schemaOrBool("additionalProperties", s.AdditionalProperties)
	w.schemas("allOf", s.AllOf)
	w.schemas("anyOf", s.AnyOf)
	w.raw("default", s.Default)
	w.byName("definitions", s.Definitions)
	if len(s.Dependencies) > 0 {
		return errUnknown // generators do not use them, and API servers reject them
	}
	w.text("description", s.Description)
	w.enum("enum", s.Enum)
	w.raw("example", s.Example)
	w.set("exclusiveMaximum", s.ExclusiveMaximum)
	w.set("exclusiveMinimum", s.ExclusiveMinimum)
	w.externalDocs("externalDocs", s.ExternalDocs)
	w.text("format", s.Format)
	w.text("id", s.ID)
	w.items("items", s.Items)
	w.integer("maxItems", s.MaxItems)
	w.integer("maxLength", s.MaxLength)
	w.integer("maxProperties", s.MaxProperties)
	w.number("maximum", s.Maximum)
	w.integer("minItems", s.MinItems)
	w.integer("minLength", s.MinLength)
	w.integer("minProperties", s.MinProperties)
	w.number("minimum", s.Minimum)
	w.number("multipleOf", s.MultipleOf)
	w.schema("not", s.Not)
	w.set("nullable", s.Nullable)
	w.schemas("oneOf", s.OneOf)
	w.text("pattern", s.Pattern)
	w.byName("patternProperties", s.PatternProperties)
	w.byName("properties", s.Properties)
	w.texts("required", s.Required)
	w.text("title", s.Title)
	w.text("type", s.Type)
	w.set("uniqueItems", s.UniqueItems)
	w.set("x-kubernetes-embedded-resource", s.XEmbeddedResource)
	w.set("x-kubernetes-int-or-string", s.XIntOrString)
	w.texts("x-kubernetes-list-map-keys", s.XListMapKeys)
	w.optional("x-kubernetes-list-type", s.XListType)
	w.optional("x-kubernetes-map-type", s.XMapType)
	w.truth("x-kubernetes-preserve-unknown-fields", s.XPreserveUnknownFields)
	w.rules("x-kubernetes-validations", s.XValidations)
	return w.err
}

// writer writes the entries of one mapping, up to the first error.
type writer struct {
	*Emitter
	indent int
	err    error
}

// schema writes a schema that may be missing.
func (w *writer) schema(key string, s *props) {
	if s == nil || w.err != nil {
		return
	}
	w.key(w.indent, key)
	w.err = w.Emitter.schema(s, w.indent)
}

// schemas writes a list of schemas. The items have the indentation of the key.
func (w *writer) schemas(key string, list []props) {
	if len(list) == 0 || w.err != nil {
		return
	}
	w.key(w.indent, key)
	w.out = append(w.out, '\n')
	for i := range list {
		mark := len(w.out)
		if w.err = w.fields(&list[i], w.indent+2); w.err != nil {
			return
		}
		w.item(mark)
	}
}

// item turns the mapping since mark, which is indented one level deeper, into an item of
// a list.
func (w *writer) item(mark int) {
	if len(w.out) == mark {
		w.spaces(w.indent)
		w.out = append(w.out, "- {}\n"...)
		return
	}
	w.out[mark+w.indent] = '-'
}

// byName writes a mapping with keys chosen by the user.
func (w *writer) byName(key string, m map[string]props) {
	if len(m) == 0 || w.err != nil {
		return
	}
	w.key(w.indent, key)
	w.out = append(w.out, '\n')
	if w.writeCached(m) {
		return
	}
	mark := len(w.out)
	defer func() { w.remember(m, mark) }()
	inner := writer{Emitter: w.Emitter, indent: w.indent + 2}
	for _, name := range slices.SortedFunc(maps.Keys(m), compareKeys) {
		s := m[name]
		var written string
		if written, w.err = w.keyText(name); w.err != nil {
			return
		}
		if inner.schema(written, &s); inner.err != nil {
			w.err = inner.err
			return
		}
	}
}

func (w *writer) schemaOrBool(key string, s *apiextensionsv1.JSONSchemaPropsOrBool) {
	switch {
	case s == nil:
	case s.Schema != nil:
		w.schema(key, s.Schema)
	default:
		w.truth(key, &s.Allows)
	}
}

func (w *writer) items(key string, s *apiextensionsv1.JSONSchemaPropsOrArray) {
	switch {
	case s == nil:
	case len(s.JSONSchemas) > 0:
		w.schemas(key, s.JSONSchemas)
	case s.Schema != nil:
		w.schema(key, s.Schema)
	default:
		w.plain(key, "null")
	}
}

func (w *writer) externalDocs(key string, d *apiextensionsv1.ExternalDocumentation) {
	if d == nil || w.err != nil {
		return
	}
	if *d == (apiextensionsv1.ExternalDocumentation{}) {
		w.plain(key, "{}")
		return
	}
	w.key(w.indent, key)
	w.out = append(w.out, '\n')
	inner := writer{Emitter: w.Emitter, indent: w.indent + 2}
	inner.text("description", d.Description)
	inner.text("url", d.URL)
	w.err = inner.err
}

func (w *writer) rules(key string, rules apiextensionsv1.ValidationRules) {
	if len(rules) == 0 || w.err != nil {
		return
	}
	w.key(w.indent, key)
	w.out = append(w.out, '\n')
	inner := writer{Emitter: w.Emitter, indent: w.indent + 2}
	for i := range rules {
		r := &rules[i]
		mark := len(w.out)
		inner.text("fieldPath", r.FieldPath)
		inner.text("message", r.Message)
		inner.text("messageExpression", r.MessageExpression)
		inner.truth("optionalOldSelf", r.OptionalOldSelf)
		inner.optional("reason", (*string)(r.Reason))
		inner.optional("rule", &r.Rule)
		if w.err = inner.err; w.err != nil {
			return
		}
		w.item(mark)
	}
}
