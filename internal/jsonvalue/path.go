package jsonvalue

// At returns the value at a path of keys in nested objects, or nil.
func At(v any, path ...string) any {
	for _, key := range path {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return v
}

// Map returns the object at a path, or nil.
func Map(v any, path ...string) map[string]any {
	object, _ := At(v, path...).(map[string]any)
	return object
}

// List returns the list at a path, or nil.
func List(v any, path ...string) []any {
	list, _ := At(v, path...).([]any)
	return list
}

// String returns the string at a path, or "".
func String(v any, path ...string) string {
	text, _ := At(v, path...).(string)
	return text
}

// Int returns the number at a path as an integer, or 0.
func Int(v any, path ...string) int64 {
	switch n := At(v, path...).(type) {
	case int64:
		return n
	case int:
		return int64(n)
	case float64:
		return int64(n)
	}
	return 0
}

// Maps returns the objects of the list at a path. It leaves out other items.
func Maps(v any, path ...string) []map[string]any { return items[map[string]any](List(v, path...)) }

// Strings returns the strings of the list at a path. It leaves out other items.
func Strings(v any, path ...string) []string { return items[string](List(v, path...)) }

func items[T any](list []any) []T {
	var all []T
	for _, item := range list {
		if t, ok := item.(T); ok {
			all = append(all, t)
		}
	}
	return all
}

// EnsureMap returns the object at a path, and creates missing ones.
func EnsureMap(object map[string]any, path ...string) map[string]any {
	for _, key := range path {
		next, ok := object[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			object[key] = next
		}
		object = next
	}
	return object
}

// Merge sets the values of an object to the values of another one. Objects in both are merged, too.
func Merge(object, by map[string]any) {
	for key, v := range by {
		inner, isObject := v.(map[string]any)
		existing, existingIsObject := object[key].(map[string]any)
		if isObject && existingIsObject {
			Merge(existing, inner)
			continue
		}
		object[key] = Clone(v)
	}
}

// ListOf returns items as a decoded list.
func ListOf[T any](items []T) []any {
	list := make([]any, len(items))
	for i, item := range items {
		list[i] = item
	}
	return list
}
