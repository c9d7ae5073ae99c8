package yamledit

import (
	"maps"
	"slices"
)

// Each primitive edit is also applied to the decoded value. The edited bytes must
// decode to the result.

func (c *changes) set(path []any, v any) {
	c.ops = append(c.ops, op{path,
		func(d *yamlDoc) ([]byte, error) { return d.set(path, v) },
		func(root any) any { return descend(root, path, func(any) any { return v }) },
	})
}

func (c *changes) insertKey(path []any, key string, v any) {
	c.ops = append(c.ops, op{path,
		func(d *yamlDoc) ([]byte, error) { return d.insertKey(path, key, v) },
		func(root any) any { return descend(root, extend(path, key), func(any) any { return v }) },
	})
}

func (c *changes) insertItem(path []any, i int, v any) {
	c.ops = append(c.ops, op{path,
		func(d *yamlDoc) ([]byte, error) { return d.insertItem(path, i, v) },
		func(root any) any {
			return descend(root, path, func(old any) any {
				list, _ := old.([]any)
				return slices.Insert(slices.Clone(list), min(i, len(list)), v)
			})
		},
	})
}

func (c *changes) remove(path []any) {
	parent, last := path[:len(path)-1], path[len(path)-1]
	c.ops = append(c.ops, op{path,
		func(d *yamlDoc) ([]byte, error) { return d.remove(path) },
		func(root any) any {
			return descend(root, parent, func(old any) any {
				switch old := old.(type) {
				case map[string]any:
					m := maps.Clone(old)
					delete(m, last.(string))
					return m
				case []any:
					i := last.(int)
					return slices.Delete(slices.Clone(old), i, i+1)
				}
				return old
			})
		},
	})
}

// descend returns root with the value at path replaced by the result of change.
// It copies the values that it changes, because aliases share values.
func descend(root any, path []any, change func(any) any) any {
	if len(path) == 0 {
		return change(root)
	}
	switch step := path[0].(type) {
	case string:
		m, _ := root.(map[string]any)
		m = maps.Clone(m)
		if m == nil {
			m = map[string]any{}
		}
		m[step] = descend(m[step], path[1:], change)
		return m
	case int:
		list, _ := root.([]any)
		if step < len(list) {
			list = slices.Clone(list)
			list[step] = descend(list[step], path[1:], change)
		}
		return list
	}
	return root
}
