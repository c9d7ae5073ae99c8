package yamledit

import (
	"maps"

	"github.com/operon-dev/operon/internal/fault"
)

// Set sets key in the mapping at path to a string. It creates a missing
// mapping. If the key already has the value, nothing changes. It is an error if
// path contains a value that is not a mapping.
func Set(src []byte, path []string, key, value string) ([]byte, error) {
	doc, err := Decode(src)
	if err != nil {
		return nil, err
	}
	m, at := doc.Value, []any{}
	for _, name := range path {
		at = append(at, name)
		next, ok := m[name].(map[string]any)
		if !ok && m[name] != nil {
			return nil, fault.In(doc.Place(at), fault.Failed("write it as a mapping, or remove it", "%s is not a mapping", name))
		}
		m = next
	}
	return Reconcile(src, doc.Value, with(doc.Value, append(path, key), value), func(a, b any) bool { return false })
}

// with returns m with the value set at path.
func with(m map[string]any, path []string, value string) map[string]any {
	next := maps.Clone(m)
	if next == nil {
		next = map[string]any{}
	}
	if len(path) == 1 {
		next[path[0]] = value
		return next
	}
	inner, _ := m[path[0]].(map[string]any)
	next[path[0]] = with(inner, path[1:], value)
	return next
}
