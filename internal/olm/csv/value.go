package csv

import (
	"k8s.io/apimachinery/pkg/api/equality"
)

// at returns the value at a path of keys, or nil.
func at(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

func mapAt(v any, path ...string) map[string]any {
	m, _ := at(v, path...).(map[string]any)
	return m
}

func listAt(v any, path ...string) []any {
	l, _ := at(v, path...).([]any)
	return l
}

func textAt(v any, path ...string) string {
	s, _ := at(v, path...).(string)
	return s
}

// mapsAt returns the items of a list that are mappings.
func mapsAt(v any, path ...string) []map[string]any {
	var items []map[string]any
	for _, item := range listAt(v, path...) {
		if m, ok := item.(map[string]any); ok {
			items = append(items, m)
		}
	}
	return items
}

func textsAt(v any, path ...string) []string {
	var items []string
	for _, item := range listAt(v, path...) {
		if s, ok := item.(string); ok {
			items = append(items, s)
		}
	}
	return items
}

// makeMap returns the mapping at a path, and creates missing ones.
func makeMap(m map[string]any, path ...string) map[string]any {
	for _, key := range path {
		next, ok := m[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[key] = next
		}
		m = next
	}
	return m
}

// setList sets a list, or removes the key of an empty one.
func setList(m map[string]any, key string, items []any) {
	if len(items) == 0 {
		delete(m, key)
		return
	}
	m[key] = items
}

// number returns an integer of decoded JSON or YAML.
func number(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case float64:
		return int64(n), true
	}
	return 0, false
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
