package yamledit

import (
	"maps"

	"github.com/operon-dev/operon/internal/fault"
)

// Set gives the mapping at path, which is made where it is missing, the key
// with a text for a value. A key that has the value already changes nothing.
// Something else than a mapping on the path is an error.
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
			return nil, fault.In(doc.Place(at), fault.Failed("", "%s is not a mapping", name))
		}
		m = next
	}
	return Reconcile(src, doc.Value, with(doc.Value, append(path, key), value), func(a, b any) bool { return false })
}

// with is m with the value at path.
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
