package csv

import (
	"k8s.io/apimachinery/pkg/api/equality"
)

// setList sets a list, or removes the key of an empty one.
func setList(m map[string]any, key string, items []any) {
	if len(items) == 0 {
		delete(m, key)
		return
	}
	m[key] = items
}

func equal(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

// hasText reports whether a string in v, at any depth, fulfils the condition.
func hasText(v any, is func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return is(v)
	case []any:
		for _, item := range v {
			if hasText(item, is) {
				return true
			}
		}
	case map[string]any:
		for _, item := range v {
			if hasText(item, is) {
				return true
			}
		}
	}
	return false
}
