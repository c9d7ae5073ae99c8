package fields

import (
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
)

// Schema returns the schema of objects of the kind, as far as a sample needs it: the spec.
func (k *Kind) Schema() crdschema.Schema {
	return objectOf(map[string]any{"spec": map[string]any(k.Spec.schema())}, "spec")
}

func (o *Object) schema() crdschema.Schema {
	properties := map[string]any{}
	var required []any
	for _, m := range o.Members {
		var s map[string]any
		switch {
		case m.Object == nil:
			s = m.field.schema()
		case m.list:
			s = map[string]any{"type": "array", "items": map[string]any(m.Object.schema())}
		default:
			s = m.Object.schema()
		}
		properties[m.Name] = s
		if !m.optional {
			required = append(required, m.Name)
		}
	}
	return objectOf(properties, required...)
}

// schema returns the schema of a single value, of a list or of a map.
func (f Field) schema() map[string]any {
	value := map[string]any(f.valueSchema())
	switch {
	case f.list:
		value = map[string]any{"type": "array", "items": value}
	case f.mapped:
		value = map[string]any{"type": "object", "additionalProperties": value}
	}
	for _, r := range f.rules {
		switch {
		case r.name == "default":
			value["default"] = f.literal(r.value)
		case (f.list || f.mapped) && !isTextOrIntegerRule(r.name) && options[r.name].keyword != "":
			value[options[r.name].keyword] = toInt(r.value)
		}
	}
	return value
}

// valueSchema returns the schema of a value, or of one in a list or a map, without the default.
func (f Field) valueSchema() crdschema.Schema {
	s := f.typ.copySchema()
	for _, r := range f.rules {
		if !isTextOrIntegerRule(r.name) {
			continue
		}
		keyword := options[r.name].keyword
		switch r.name {
		case "pattern", "format":
			s[keyword] = r.value
		case "enum":
			var values []any
			for v := range strings.SplitSeq(r.value, "|") {
				values = append(values, f.literal(v))
			}
			s[keyword] = values
		default:
			n, _ := strconv.ParseFloat(r.value, 64) // checkRule reports errors
			s[keyword] = n
		}
	}
	return s
}
