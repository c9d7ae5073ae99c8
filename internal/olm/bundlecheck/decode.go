package bundlecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// decodeAs decodes an object as the library does, and reports each value that does not fit, by a rule. A
// number where a text belongs fits.
func decodeAs[T any](x *input, d *document, r Rule) (*T, bool) {
	object := new(T)
	if err := utilyaml.NewYAMLToJSONDecoder(bytes.NewReader(d.src)).Decode(object); err == nil {
		return object, true
	}
	decode := func(v any) error {
		src, err := json.Marshal(v)
		if err != nil || yaml.Unmarshal(src, new(T)) == nil {
			return err
		}
		return json.Unmarshal(src, new(T))
	}
	invalidValues(d.Object, nil, decode, func(path []any, err error) {
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
