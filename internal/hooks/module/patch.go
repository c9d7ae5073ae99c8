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

// Operation is an operation of a values patch. The operations move and copy fail, because
// addon-operator ignores the field from.
type Operation struct {
	Op    string          `json:"op,omitempty"`
	Path  string          `json:"path,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// ParsePatch parses a patch file: a sequence of operations and lists of operations. Like
// addon-operator, it skips other values, and decodes 1.0 as 1.
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
		if _, isOperation := item.(map[string]any); isOperation {
			list = []any{item}
		} else if !isList {
			continue
		}
		for _, v := range list {
			o, err := decodeOperation(v)
			if err != nil {
				return nil, err
			}
			all = append(all, o)
		}
	}
}

func decodeOperation(v any) (o Operation, err error) {
	if _, isObject := v.(map[string]any); !isObject {
		return o, fmt.Errorf("%v is not an operation", v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(text, &o)
}

// enabledSuffix is the suffix of keys that enable or disable modules.
const enabledSuffix = "Enabled"

// root returns the first key of the operation's path.
func (o Operation) root() (key string, found bool) {
	parts := strings.Split(o.Path, "/")
	if len(parts) < 2 {
		return "", false
	}
	return parts[1], true
}

// checkAllowed returns an error for operations that addon-operator rejects: replace, and
// changes outside the values of a key. Global hooks may also set the flags that enable modules.
func checkAllowed(ops []Operation, key string) error {
	for _, o := range ops {
		if o.Op == "replace" {
			return fmt.Errorf("replace of %s is not allowed: use add, which also replaces", o.Path)
		}
		root, found := o.root()
		switch {
		case !found || root == key:
		case key == globalKey && strings.HasSuffix(root, enabledSuffix):
		case key == globalKey:
			return fmt.Errorf("%s of %s is not allowed: a global hook may change only values below /global and flags such as /webEnabled", o.Op, o.Path)
		default:
			return fmt.Errorf("%s of %s is not allowed: a hook of this module may change only values below /%s", o.Op, o.Path, key)
		}
	}
	return nil
}

// applyPatch applies operations to the values below a key. If lenient is set, removing an
// absent value is not an error. nil values are null, and operations cannot add values to them.
func applyPatch(key string, values map[string]any, ops []Operation, lenient bool) (after map[string]any, changed bool, err error) {
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
	after, isObject := all[key].(map[string]any)
	if !isObject {
		return nil, false, fmt.Errorf("%s must remain an object", key)
	}
	return after, true, nil
}

func (o Operation) apply(text []byte) ([]byte, error) {
	if o.Op == "test" && o.Value == nil {
		return nil, fmt.Errorf("test of %s needs a value", o.Path)
	}
	encoded, err := json.Marshal([]Operation{o})
	if err != nil {
		return nil, err
	}
	p, err := jsonpatch.DecodePatch(encoded)
	if err != nil {
		return nil, err
	}
	return p.Apply(text)
}

// compact appends operations to the recorded ones, as addon-operator does. It keeps only the
// last operation of each path; of several additions to the end of a list, one remains. Adding
// or removing an object discards the recorded operations below it. The result is ordered by
// path.
func compact(recorded, ops []Operation) []Operation {
	last := map[string][]Operation{}
	for _, o := range recorded {
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
