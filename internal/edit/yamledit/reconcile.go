package yamledit

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Reconcile edits src, whose decoded value is was, so that its value becomes
// want. It changes only the differences: comments, blank lines, quoting, key
// order, and keys in neither was nor want stay. New keys go before the first
// sibling that sorts after them.
//
// was and want are plain data: map[string]any, []any, string, bool, numbers,
// nil. src must contain every entry of was, in any form, but a changed entry
// must not come from an alias or a merge key. A key in src that was does not
// contain is unknown, and stays unless want sets it or its parent is removed.
// same reports whether two different list items are one item that changed (for
// example a resource with the same name), rather than one removed and one added
// item.
//
// The result is decoded and compared before it is returned. Errors have the
// form line:column and mean that this function cannot edit src.
func Reconcile(src []byte, was, want any, same func(a, b any) bool) ([]byte, error) {
	was, want = plain(was), plain(want)
	if reflect.DeepEqual(was, want) {
		return src, nil
	}
	d, err := parseYAML(src)
	if err != nil {
		return nil, err
	}
	c := changes{same: same}
	c.value(d.root, nil, was, want)
	expected, err := d.decode()
	if err != nil {
		return nil, err
	}
	out := src
	for i, op := range c.ops {
		if i > 0 {
			if d, err = parseYAML(out); err != nil {
				return nil, err
			}
		}
		if out, err = op.edit(d); err != nil {
			return nil, err
		}
		expected = op.model(expected)
		if err := d.check(out, op.path, expected); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func decodeYAML(src []byte) (v any, err error) {
	return v, yaml.Unmarshal(src, &v)
}

// equalYAML compares decoded values by their YAML form: NaN equals NaN.
func equalYAML(a, b any) bool {
	if reflect.DeepEqual(plain(a), plain(b)) {
		return true
	}
	x, err := yaml.Marshal(a)
	if err != nil {
		return false
	}
	y, err := yaml.Marshal(b)
	return err == nil && bytes.Equal(x, y)
}

// check verifies an edit at path: out must decode to expected.
func (d *yamlDoc) check(out []byte, path []any, expected any) error {
	if got, err := decodeYAML(out); err == nil && equalYAML(got, expected) {
		return nil
	}
	at := &yaml.Node{Line: 1, Column: 1}
	if s, _, _ := d.find(path); s.node.Line > 0 {
		at = s.node
	}
	return d.errorAt(at, "simplify the YAML (no anchors, no values over several lines), or edit the file by hand",
		"this is written in a form that cannot be edited in place")
}

// plain converts numbers to one type per kind, and lists and maps to the types
// of a decoder, so that equal data compare equal.
func plain(v any) any {
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Invalid:
		return nil
	case reflect.String:
		return rv.String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return rv.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if rv.Uint() <= math.MaxInt64 {
			return int64(rv.Uint())
		}
		return rv.Uint()
	case reflect.Float32, reflect.Float64:
		if f := rv.Float(); f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f)
		}
		return rv.Float()
	case reflect.Slice:
		list := make([]any, rv.Len())
		for i := range list {
			list[i] = plain(rv.Index(i).Interface())
		}
		return list
	case reflect.Map:
		m := make(map[string]any, rv.Len())
		for it := rv.MapRange(); it.Next(); {
			m[fmt.Sprint(it.Key())] = plain(it.Value().Interface())
		}
		return m
	}
	return v
}

// op is one primitive edit at path, for the bytes and for the decoded value.
type op struct {
	path  []any
	edit  func(d *yamlDoc) ([]byte, error)
	model func(root any) any
}

// changes collects the edits that turn one value into another.
type changes struct {
	same   func(a, b any) bool
	follow bool // aliases follow their anchors and need no edits
	ops    []op
}

// value compares one value, whose node is n.
func (c *changes) value(n *yaml.Node, path []any, was, want any) {
	if reflect.DeepEqual(was, want) || c.follow && n.Kind == yaml.AliasNode {
		return
	}
	switch want := want.(type) {
	case map[string]any:
		old, ok := was.(map[string]any)
		if ok && n.Kind == yaml.MappingNode || was == nil && len(path) == 0 {
			c.mapping(n, path, old, want)
			return
		}
	case []any:
		if old, ok := was.([]any); ok && n.Kind == yaml.SequenceNode && len(old) == len(n.Content) {
			c.list(n, path, old, want)
			return
		}
	}
	c.set(path, want)
}

// mapping adds before it removes, so that no collection becomes empty in
// between and loses its place.
func (c *changes) mapping(n *yaml.Node, path []any, was, want map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(want)) {
		old, known := was[k]
		at := valueIndex(n, k)
		switch {
		case known && at >= 0:
			c.value(n.Content[at], extend(path, k), old, want[k])
		case known && reflect.DeepEqual(old, want[k]):
		case known || at >= 0:
			c.set(extend(path, k), want[k]) // for a known key that src does not contain, set fails with its position
		default:
			c.insertKey(path, k, want[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(was)) {
		if _, kept := want[k]; !kept {
			c.remove(extend(path, k))
		}
	}
}

// list inserts the new items from the start, then removes the old ones from the
// end, and then compares the items in both lists. In this order, every index is
// valid when it is used.
func (c *changes) list(n *yaml.Node, path []any, was, want []any) {
	pairs := align(was, want, c.same)
	var gone []int
	next, size := 0, 0 // the next item of was; the number of items before it now
	skip := func(until int) {
		for ; next < until; next++ {
			gone = append(gone, size)
			size++
		}
	}
	upTo := func(j int) int { // the old index of the next kept item
		for ; j < len(want); j++ {
			if i, ok := pairs[j]; ok {
				return i
			}
		}
		return len(was)
	}
	for j := range want {
		skip(upTo(j))
		if _, kept := pairs[j]; kept {
			next++
		} else {
			c.insertItem(path, size, want[j])
		}
		size++
	}
	skip(len(was))
	for _, at := range slices.Backward(gone) {
		c.remove(extend(path, at))
	}
	for j := range want {
		if i, kept := pairs[j]; kept {
			c.value(n.Content[i], extend(path, j), was[i], want[j])
		}
	}
}

// align maps indices of want to indices of the corresponding items in was. The
// pairs form a common subsequence with the maximum number of equal items, and
// then the maximum number of same items.
func align(was, want []any, same func(a, b any) bool) map[int]int {
	weight := func(i, j int) int {
		switch {
		case reflect.DeepEqual(was[i], want[j]):
			return len(was) + 1
		case same != nil && same(was[i], want[j]):
			return 1
		}
		return 0
	}
	length := make([][]int, len(was)+1)
	length[len(was)] = make([]int, len(want)+1)
	for i := range slices.Backward(was) {
		length[i] = make([]int, len(want)+1)
		for j := range slices.Backward(want) {
			length[i][j] = max(length[i+1][j], length[i][j+1])
			if w := weight(i, j); w > 0 {
				length[i][j] = max(length[i][j], length[i+1][j+1]+w)
			}
		}
	}
	pairs := map[int]int{}
	for i, j := 0, 0; i < len(was) && j < len(want); {
		w := weight(i, j)
		switch {
		case w > 0 && length[i][j] == length[i+1][j+1]+w:
			pairs[j] = i
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

func extend(path []any, step any) []any { return append(slices.Clone(path), step) }
