package module

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// Operation is an operation of a values patch. addon-operator ignores the field from, so
// move and copy fail.
type Operation struct {
	Op    string          `json:"op,omitempty"`
	Path  string          `json:"path,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// ParsePatch parses the patch file of a hook: a sequence of operations or lists of
// operations. Like addon-operator, it skips other values and decodes 1.0 as 1.
func ParsePatch(text []byte) ([]Operation, error) {
	var all []Operation
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var item any
		if err := d.Decode(&item); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		list, isList := item.([]any)
		if _, isOne := item.(map[string]any); isOne {
			list = []any{item}
		} else if !isList {
			continue
		}
		for _, o := range list {
			one, err := operation(o)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
}

func operation(v any) (o Operation, err error) {
	if _, isObject := v.(map[string]any); !isObject {
		return o, fmt.Errorf("%v is no operation", v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(text, &o)
}

// switchSuffix is the suffix of keys that enable or disable modules.
const switchSuffix = "Enabled"

// root returns the first key of the operation's path.
func (o Operation) root() (key string, found bool) {
	parts := strings.Split(o.Path, "/")
	if len(parts) < 2 {
		return "", false
	}
	return parts[1], true
}

// checkAllowed rejects operations that addon-operator does not allow: replace, and those
// on values of others. Global hooks may also set the keys that enable modules.
func checkAllowed(ops []Operation, key string) error {
	for _, o := range ops {
		if o.Op == "replace" {
			return fmt.Errorf("replace of %s is refused: use add, which also replaces", o.Path)
		}
		root, found := o.root()
		switch {
		case !found || root == key:
		case key == globalKey && strings.HasSuffix(root, switchSuffix):
		case key == globalKey:
			return fmt.Errorf("%s of %s is refused: a global hook may change only values below /global and switches of modules", o.Op, o.Path)
		default:
			return fmt.Errorf("%s of %s is refused: a hook of this module may change only values below /%s", o.Op, o.Path, key)
		}
	}
	return nil
}

// patched applies operations to the values below a key. If lenient is set, removing an
// absent value is no error. An empty section becomes null, to which nothing can be added.
func patched(key string, values map[string]any, ops []Operation, lenient bool) (after map[string]any, changed bool, err error) {
	before, err := json.Marshal(map[string]any{key: values})
	if err != nil {
		return nil, false, err
	}
	text := before
	for _, o := range ops {
		next, err := o.apply(text)
		switch {
		case err == nil:
			text = next
		case lenient && o.Op == "remove":
		default:
			return nil, false, err
		}
	}
	if bytes.Equal(before, text) {
		return values, false, nil
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, false, err
	}
	after, isTable := all[key].(map[string]any)
	if !isTable {
		return nil, false, fmt.Errorf("%s must stay an object", key)
	}
	return after, true, nil
}

func (o Operation) apply(text []byte) ([]byte, error) {
	if o.Op == "test" && o.Value == nil {
		return nil, fmt.Errorf("test of %s needs a value", o.Path)
	}
	one, err := json.Marshal([]Operation{o})
	if err != nil {
		return nil, err
	}
	p, err := jsonpatch.DecodePatch(one)
	if err != nil {
		return nil, err
	}
	return p.Apply(text)
}

// compacted adds operations to the kept ones, as addon-operator does. It keeps the last
// operation of each path, so only the last of several additions to the end of a list
// remains. Adding or removing an object discards the kept operations below it. The result
// is ordered by path.
func compacted(kept, ops []Operation) []Operation {
	last := map[string][]Operation{}
	for _, o := range kept {
		last[o.Path] = append(last[o.Path], o)
	}
	for _, o := range ops {
		if o.Op == "add" || o.Op == "remove" {
			maps.DeleteFunc(last, func(path string, _ []Operation) bool { return strings.HasPrefix(path, o.Path+"/") })
		}
		last[o.Path] = []Operation{o}
	}
	var all []Operation
	for _, path := range slices.Sorted(maps.Keys(last)) {
		all = append(all, last[path]...)
	}
	return all
}
