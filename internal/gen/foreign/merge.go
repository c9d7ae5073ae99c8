package foreign

import (
	"bytes"
	"errors"
	"path"
	"reflect"
	"slices"

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
	case isYAML && clean:
		_, err = objects(merged)
	case isYAML:
		merged, err = mergeObjects(base, disk, next)
	case !clean:
		err = errors.New("the command changes lines that someone else changed")
	}
	if err != nil {
		return nil, fault.Differences("decide first what operon does with the file: operon generate --replace "+name+", --keep "+name+" or --after",
			"operon did not write %s, and cannot add what the command generates: %v", name, err)
	}
	return merged, nil
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
	for _, text := range bytes.Split(src, separator) {
		o := object{text: text}
		if err := yaml.Unmarshal(text, &o.value); err != nil {
			return nil, err
		}
		all = append(all, o)
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
		case i < 0: // the file lacks what the generators made before, too
		default:
			if have[i].text, err = addItems(mine, was, o); err != nil {
				return nil, err
			}
		}
	}
	texts := make([][]byte, len(have))
	for i, o := range have {
		texts[i] = bytes.TrimSuffix(o.text, []byte("\n"))
	}
	return append(bytes.Join(texts, separator), '\n'), nil
}

// addItems adds the items of the lists at the top of an object that are new: the rules of a role, the webhooks of a
// configuration.
func addItems(mine, was, next object) ([]byte, error) {
	want := map[string]any{}
	for key, value := range mine.value {
		want[key] = value
	}
	for key, value := range next.value {
		items, isList := value.([]any)
		if !isList {
			if old, known := was.value[key]; known && !reflect.DeepEqual(old, value) {
				return nil, errors.New(key + " changes")
			}
			continue
		}
		old, _ := was.value[key].([]any)
		own, _ := mine.value[key].([]any)
		list := slices.Clone(own)
		for _, item := range items {
			equal := func(other any) bool { return reflect.DeepEqual(item, other) }
			if !slices.ContainsFunc(old, equal) && !slices.ContainsFunc(own, equal) {
				list = append(list, item)
			}
		}
		want[key] = list
	}
	return yamledit.Reconcile(mine.text, mine.value, want, sameItem)
}

// sameItem reports whether two objects or items have the same name.
func sameItem(a, b any) bool {
	name := func(v any) any {
		m, _ := v.(map[string]any)
		if meta, ok := m["metadata"].(map[string]any); ok {
			return [2]any{meta["name"], meta["namespace"]}
		}
		return m["name"]
	}
	return name(a) != nil && name(a) == name(b)
}
