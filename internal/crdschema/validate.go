package crdschema

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate finds what the schema does not allow in an object: types, required keys,
// enumerations, patterns and bounds. Formats and rules in CEL are a server's business.
func (s Schema) Validate(object map[string]any) field.ErrorList { return s.validate(object, nil) }

func (s Schema) validate(v any, at *field.Path) field.ErrorList {
	if s == nil || v == nil && s["nullable"] == true {
		return nil
	}
	if want, isText := s["type"].(string); isText && !isType(want, v) && s["x-kubernetes-int-or-string"] != true {
		return field.ErrorList{field.TypeInvalid(at, jsonType(v), fmt.Sprintf("%s in body must be of type %s: %q", at, want, jsonType(v)))}
	}
	var errs field.ErrorList
	if list, isList := s["enum"].([]any); isList && !slices.ContainsFunc(list, func(e any) bool { return fmt.Sprint(e) == fmt.Sprint(v) }) {
		var names []string
		for _, e := range list {
			names = append(names, fmt.Sprint(e))
		}
		errs = append(errs, field.NotSupported(at, v, names))
	}
	switch x := v.(type) {
	case map[string]any:
		errs = append(errs, s.validateObject(x, at)...)
	case []any:
		errs = append(errs, s.validateList(x, at)...)
	case string:
		errs = append(errs, s.validateText(x, at)...)
	case int64:
		errs = append(errs, s.validateNumber(float64(x), x, at)...)
	case float64:
		errs = append(errs, s.validateNumber(x, x, at)...)
	}
	return errs
}

func (s Schema) validateObject(x map[string]any, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range required(s) {
		if _, there := x[name]; !there {
			errs = append(errs, field.Required(child(at, name), ""))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x)) {
		if at == nil && slices.Contains(objectKeys, name) {
			continue
		}
		if inner, known := s.property(name); known {
			errs = append(errs, inner.validate(x[name], child(at, name))...)
		}
	}
	return errs
}

func (s Schema) validateList(x []any, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if least, bound := number(s["minItems"]); bound && float64(len(x)) < least {
		errs = append(errs, field.Invalid(at, len(x), fmt.Sprintf("%s in body should have at least %v items", at, least)))
	}
	if most, bound := number(s["maxItems"]); bound && float64(len(x)) > most {
		errs = append(errs, field.TooMany(at, len(x), int(most)))
	}
	for i, item := range x {
		errs = append(errs, s.items().validate(item, at.Index(i))...)
	}
	return errs
}

// validateText stops at the first fault, as a server does.
func (s Schema) validateText(x string, at *field.Path) field.ErrorList {
	length := float64(utf8.RuneCountInString(x))
	if most, bound := number(s["maxLength"]); bound && length > most {
		return field.ErrorList{field.TooLong(at, "", int(most))}
	}
	if least, bound := number(s["minLength"]); bound && length < least {
		return field.ErrorList{field.Invalid(at, x, fmt.Sprintf("%s in body should be at least %v chars long", at, least))}
	}
	if pattern, isText := s["pattern"].(string); isText {
		re, err := regexp.Compile(pattern)
		if err != nil {
			pattern += ", but pattern is invalid: " + err.Error()
		}
		if err != nil || !re.MatchString(x) {
			return field.ErrorList{field.Invalid(at, x, fmt.Sprintf("%s in body should match '%s'", at, pattern))}
		}
	}
	return nil
}

func (s Schema) validateNumber(x float64, v any, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if step, bound := number(s["multipleOf"]); bound && step > 0 {
		if times, whole := x/step, math.Round(x/step); math.Abs(times-whole) > 1e-9*math.Abs(whole) { // as near as a server looks
			errs = append(errs, field.Invalid(at, v, fmt.Sprintf("%s in body should be a multiple of %v", at, step)))
		}
	}
	if least, bound := number(s["minimum"]); bound {
		switch exclusive := s["exclusiveMinimum"] == true; {
		case exclusive && x <= least:
			errs = append(errs, field.Invalid(at, v, fmt.Sprintf("%s in body should be greater than %v", at, least)))
		case x < least:
			errs = append(errs, field.Invalid(at, v, fmt.Sprintf("%s in body should be greater than or equal to %v", at, least)))
		}
	}
	if most, bound := number(s["maximum"]); bound {
		switch exclusive := s["exclusiveMaximum"] == true; {
		case exclusive && x >= most:
			errs = append(errs, field.Invalid(at, v, fmt.Sprintf("%s in body should be less than %v", at, most)))
		case x > most:
			errs = append(errs, field.Invalid(at, v, fmt.Sprintf("%s in body should be less than or equal to %v", at, most)))
		}
	}
	return errs
}

func child(at *field.Path, name string) *field.Path {
	if at == nil {
		return field.NewPath(name)
	}
	return at.Child(name)
}

func number(v any) (n float64, isNumber bool) {
	switch x := v.(type) {
	case int64:
		return float64(x), true
	case float64:
		return x, true
	case string:
		n, err := strconv.ParseFloat(x, 64)
		return n, err == nil
	}
	return 0, false
}

func isType(want string, v any) bool {
	got := jsonType(v)
	return got == want || want == "number" && got == "integer"
}

// jsonType is the name of a value's type in a schema.
func jsonType(v any) string {
	switch x := v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		if x == math.Trunc(x) {
			return "integer"
		}
		return "number"
	}
	return "null"
}
