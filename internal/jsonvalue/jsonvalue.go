// Package jsonvalue reads and copies values that were decoded from JSON or YAML, and names
// their types in messages. Objects are map[string]any, and lists are []any.
package jsonvalue

import (
	"math"
	"time"
)

// Clone returns a deep copy of a value.
func Clone(v any) any {
	switch x := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(x))
		for key, item := range x {
			c[key] = Clone(item)
		}
		return c
	case []any:
		c := make([]any, len(x))
		for i, item := range x {
			c[i] = Clone(item)
		}
		return c
	}
	return v
}

// Type returns the JSON Schema name for the type of a value. A number without a fraction
// is an integer. The type of a YAML timestamp is "timestamp".
func Type(v any) string {
	switch x := v.(type) {
	case map[string]any, map[any]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case int, int64, uint64:
		return "integer"
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			return "integer"
		}
		return "number"
	case time.Time:
		return "timestamp"
	}
	return "null"
}

// WithArticle returns the name of a type for messages, such as "an object", "a list" or
// "null".
func WithArticle(typ string) string {
	switch typ {
	case "null":
		return typ
	case "array":
		return "a list"
	case "object", "integer":
		return "an " + typ
	}
	return "a " + typ
}
