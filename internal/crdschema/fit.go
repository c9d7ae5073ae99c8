package crdschema

import (
	"encoding/json"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
)

// Fit returns the part of an object that the schema allows: without unknown fields and
// without values that are not valid. A list is kept or left out as a whole.
func (s Schema) Fit(object map[string]any) map[string]any {
	fitting, _ := s.fit(object, true)
	kept, _ := fitting.(map[string]any)
	return kept
}

// fit returns the allowed part of v, and reports whether there is any.
func (s Schema) fit(v any, root bool) (fitting any, allowed bool) {
	switch x := v.(type) {
	case map[string]any:
		if t, isText := s["type"].(string); isText && t != "object" {
			return nil, false
		}
		return s.fitKeys(x, root), true
	case []any:
		kept := []any{}
		for _, item := range x {
			fitting, allowed := s.items().fit(item, false)
			if !allowed {
				return nil, false
			}
			kept = append(kept, fitting)
		}
		return kept, s.valid()(kept)
	}
	return v, s.valid()(v)
}

func (s Schema) fitKeys(object map[string]any, root bool) map[string]any {
	kept := map[string]any{}
	for name, value := range object {
		inner, known := s.property(name)
		switch {
		case root && isObjectKey(name), !known && s.preservesUnknown(), known && inner == nil:
			kept[name] = value
		case known:
			if fitting, allowed := inner.fit(value, false); allowed {
				kept[name] = fitting
			}
		}
	}
	return kept
}

// Allows reports whether a value is valid, without validation rules. If the schema itself is
// invalid, every value is valid.
func (s Schema) Allows(v any) bool { return s.valid()(v) }

// valid returns a function that reports whether a value is valid. It does not evaluate
// validation rules. If the schema itself is invalid, every value is valid.
func (s Schema) valid() func(v any) bool {
	validator, err := s.valueValidator()
	if err != nil {
		return func(any) bool { return true }
	}
	return func(v any) bool { return len(validation.ValidateCustomResource(nil, v, validator)) == 0 }
}

func (s Schema) valueValidator() (validation.SchemaValidator, error) {
	content, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	props, err := decode(content)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(props)
	return validator, err
}
