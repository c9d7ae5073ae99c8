package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold/merge"
	"go.yaml.in/yaml/v3"
)

// Merge returns a file with what a command adds: base is the output of the generators before the command, or nil, and
// next the output after it. Lines that are only in the file stay. In YAML, objects and list items that base lacks
// are added, if the lines conflict.
func Merge(name string, base, disk, next []byte) (merged []byte, err error) {
	clean := false
	if base != nil {
		merged, clean = merge.Text(base, disk, next)
	}
	switch isYAML := path.Ext(name) == ".yaml"; {
	case isYAML && clean && !hasRole(next): // a line can mean another permission in another rule
		_, err = objects(merged)
	case isYAML:
		merged, err = mergeObjects(base, disk, next)
	case clean:
		err = checkGo(name, merged)
	default:
		err = errors.New("it has other lines where the command changes some")
	}
	if err != nil {
		return nil, fault.Differences("decide first what operon does with the file: operon generate --replace "+name+", --keep "+name+" or --after",
			"operon did not write %s, and cannot add what the command generates: %v", name, err)
	}
	return merged, nil
}

// checkGo returns an error if Go code does not parse, or declares a function twice.
func checkGo(name string, src []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	declared := map[string]bool{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		full := f.Name.Name
		if f.Recv != nil && len(f.Recv.List) == 1 {
			full = types.ExprString(f.Recv.List[0].Type) + "." + full
		}
		if declared[full] && full != "init" {
			return errors.New("it would declare " + full + " twice")
		}
		declared[full] = true
	}
	return nil
}

// separator starts an object after others.
var separator = []byte("\n---\n")

// object is a part of a file.
type object struct {
	text  []byte
	value map[string]any
}

// objects splits a file, so that joining the texts with separators gives the file.
func objects(src []byte) (all []object, err error) {
	documents := 0
	for decoder := yaml.NewDecoder(bytes.NewReader(src)); ; documents++ {
		var value any
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if value == nil {
			documents--
		}
	}
	for text := range bytes.SplitSeq(src, separator) {
		o := object{text: text}
		if err := yaml.Unmarshal(text, &o.value); err != nil {
			return nil, err
		}
		if o.value != nil {
			documents--
		}
		all = append(all, o)
	}
	if documents != 0 {
		return nil, errors.New("a line that separates its objects has more than three dashes")
	}
	return all, nil
}

// find returns the object with the kind, the name and the namespace of another one.
func find(all []object, like object) (object, int) {
	i := slices.IndexFunc(all, func(o object) bool { return sameItem(o.value, like.value) && o.value["kind"] == like.value["kind"] })
	if i < 0 {
		return object{}, i
	}
	return all[i], i
}

// mergeObjects is Merge for objects and their lists.
func mergeObjects(base, disk, next []byte) ([]byte, error) {
	have, err := objects(disk)
	if err != nil {
		return nil, err
	}
	before, err := objects(base)
	if err != nil {
		return nil, err
	}
	after, err := objects(next)
	if err != nil {
		return nil, err
	}
	last := len(have) - 1 // the text of the others can end with an empty line
	for _, o := range after {
		if len(o.value) == 0 {
			continue
		}
		was, _ := find(before, o)
		mine, i := find(have, o)
		switch {
		case i < 0 && was.value == nil:
			o.text = bytes.TrimPrefix(o.text, separator[1:])
			have = append(have, o)
		case i < 0:
			if !reflect.DeepEqual(was.value, o.value) {
				return nil, fmt.Errorf("the %s that the command changes is not in the file", o.value["kind"])
			}
		default:
			var old any // not a nil map
			if was.value != nil {
				old = was.value
			}
			var want any
			if isRole(o.value) {
				want = addPermissions(mine.value, was.value, o.value)
			} else if want, err = mergeValue("", mine.value, old, o.value); err != nil {
				return nil, err
			}
			if have[i].text, err = yamledit.Reconcile(mine.text, mine.value, want, sameItem); err != nil {
				return nil, err
			}
		}
	}
	texts := make([][]byte, len(have))
	for i, o := range have {
		if texts[i] = o.text; i >= last {
			texts[i] = bytes.TrimSuffix(o.text, []byte("\n"))
		}
	}
	return append(bytes.Join(texts, separator), '\n'), nil
}

// mergeValue applies the changes from was to next to a value of the file. What the file lacks of was stays away, and a
// value that both changed is an error.
func mergeValue(at string, mine, was, next any) (any, error) {
	switch {
	case reflect.DeepEqual(was, next), reflect.DeepEqual(mine, next):
		return mine, nil
	case reflect.DeepEqual(mine, was):
		return next, nil
	}
	switch next := next.(type) {
	case map[string]any:
		if own, ok := mine.(map[string]any); ok {
			old, _ := was.(map[string]any)
			return mergeMap(at, own, old, next)
		}
	case []any:
		if own, ok := mine.([]any); ok || mine == nil {
			old, _ := was.([]any)
			return mergeList(at, own, old, next)
		}
	}
	return nil, errors.New(at + " changes")
}

func mergeMap(at string, mine, was, next map[string]any) (map[string]any, error) {
	merged := maps.Clone(mine)
	for key, value := range was {
		if _, stays := next[key]; !stays && reflect.DeepEqual(mine[key], value) {
			delete(merged, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(next)) {
		own, has := mine[key]
		old, had := was[key]
		switch {
		case !has && !had:
			merged[key] = next[key]
		case !has && !reflect.DeepEqual(old, next[key]):
			return nil, errors.New(strings.TrimPrefix(at+"."+key, ".") + ", which the command changes, is not in the file")
		case has:
			value, err := mergeValue(strings.TrimPrefix(at+"."+key, "."), own, old, next[key])
			if err != nil {
				return nil, err
			}
			merged[key] = value
		}
	}
	return merged, nil
}

// mergeList merges items with the same name. Items without a name, such as the rules of a role, are added and removed
// as a whole.
func mergeList(at string, mine, was, next []any) ([]any, error) {
	index := func(list []any, item any) int {
		return slices.IndexFunc(list, func(other any) bool { return reflect.DeepEqual(item, other) || sameItem(item, other) })
	}
	var merged []any
	for _, item := range mine {
		if i := index(was, item); i >= 0 && reflect.DeepEqual(was[i], item) && index(next, item) < 0 {
			continue
		}
		merged = append(merged, item)
	}
	for _, item := range next {
		var old any
		if i := index(was, item); i >= 0 {
			old = was[i]
		}
		i := index(merged, item)
		if i < 0 {
			if old != nil && !reflect.DeepEqual(old, item) {
				return nil, errors.New("an item of " + at + ", which the command changes, is not in the file")
			}
			if old == nil {
				merged = append(merged, item)
			}
			continue
		}
		value, err := mergeValue(at+"[]", merged[i], old, item)
		if err != nil {
			return nil, err
		}
		merged[i] = value
	}
	return merged, nil
}

// sameItem reports whether two objects or items have the same name.
func sameItem(a, b any) bool {
	name := func(v any) string {
		m, _ := v.(map[string]any)
		name, _ := m["name"].(string)
		if meta, ok := m["metadata"].(map[string]any); ok {
			name, _ = meta["name"].(string)
			if namespace, _ := meta["namespace"].(string); name != "" {
				name = namespace + "/" + name
			}
		}
		return name
	}
	return name(a) != "" && name(a) == name(b)
}
