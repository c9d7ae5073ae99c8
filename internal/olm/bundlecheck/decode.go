package bundlecheck

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// decodeAs decodes an object as API servers and opm do, and reports each value that does not fit, by a rule. The library
// takes numbers for texts.
func decodeAs[T any](x *input, d *document, r Rule) (*T, bool) {
	decode := func(v any) (*T, error) {
		object := new(T)
		src, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(src, object)
		}
		return object, err
	}
	object, err := decode(d.Object)
	if err == nil {
		return object, true
	}
	try := func(v any) error { _, err := decode(v); return err }
	invalidValues(d.Object, nil, try, func(path []any, err error) {
		x.report(r, d.at(path...), "%s: %s", pathText(path), reason(d.value(path...), err))
	})
	return nil, false
}

// invalidValues calls found for each smallest value that cannot be decoded. Errors of decoders often
// lack the path, so each part is decoded alone.
func invalidValues(v any, path []any, decode func(any) error, found func(path []any, err error)) bool {
	err := decode(v)
	if err == nil {
		return false
	}
	inner := false
	try := func(step any, part any, wrap func(any) any) {
		at := append(slices.Clip(path), step)
		inner = invalidValues(part, at, func(v any) error { return decode(wrap(v)) }, found) || inner
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			try(key, v[key], func(part any) any { return map[string]any{key: part} })
		}
	case []any:
		for i, item := range v {
			try(i, item, func(part any) any { return []any{part} })
		}
	}
	if !inner {
		found(path, err)
	}
	return true
}

// reason returns an error of a decoder about a value for people.
func reason(value any, err error) string {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return "a " + mismatch.Value + " is not valid here"
	}
	message := strings.TrimPrefix(err.Error(), "json: ")
	if text, ok := value.(string); ok {
		return strconv.Quote(text) + " is not valid: " + message
	}
	return message
}
