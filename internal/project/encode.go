package project

import (
	"encoding/json"
	"maps"

	"github.com/operon-dev/operon/internal/edit/yamledit"
)

// header is the comment at the top of a new PROJECT file.
const header = `# This file records the name, the plugins and the kinds of this project for operon
# and kubebuilder. operon edits individual lines of this file: it keeps your comments
# and keys, even across upgrades.
`

// Encode returns src with changes only in lines that differ from c. It keeps unknown
// keys, comments, blank lines, quotes and the order of keys. Without src it returns a
// new file with sorted keys, as kubebuilder writes it.
func (c *Config) Encode(src []byte) ([]byte, error) {
	old := &Config{}
	if len(src) == 0 {
		src = []byte(header)
	} else {
		var err error
		if old, err = Parse(src); err != nil {
			return nil, err
		}
	}
	return yamledit.Reconcile(src, old.tree(), c.tree(), sameEntry)
}

// sameEntry reports whether two list items identify the same resource, controller or
// plugin entry.
func sameEntry(a, b any) bool {
	x, ok := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if !ok || !ok2 {
		return false
	}
	named := false
	for _, key := range []string{"group", "domain", "version", "kind", "name"} {
		if x[key] != y[key] {
			return false
		}
		named = named || x[key] != nil
	}
	return named
}

// tree returns c as plain data in PROJECT's schema, without empty values.
func (c *Config) tree() map[string]any {
	if c.Version == "" { // there was no file
		return map[string]any{}
	}
	tree := plainData(c)
	if len(c.Plugins) > 0 {
		tree["plugins"] = c.Plugins // as it is: JSON has no integers
	}
	return tree
}

// Entry returns r as an entry of resources in PROJECT.
func (r Resource) Entry() map[string]any { return plainData(r) }

// plainData returns a struct as the map that its json tags describe.
func plainData(v any) map[string]any {
	content, err := json.Marshal(v)
	var tree map[string]any
	if err == nil {
		err = json.Unmarshal(content, &tree)
	}
	if err != nil {
		panic(err) // the structs of this package always have a form in JSON
	}
	return tree
}

// EncodeCorrected is Encode for a Config whose first resources are the resources of src, in order, some with another group.
// It keeps the comments and unknown keys of these, too.
func (c *Config) EncodeCorrected(src []byte) ([]byte, error) {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil, err
	}
	list, _ := doc.Value["resources"].([]any)
	resources := make([]any, len(list))
	for i, item := range list {
		m, ok := item.(map[string]any)
		if resources[i] = item; !ok || i >= len(c.Resources) {
			continue
		}
		m = maps.Clone(m)
		for key, value := range map[string]string{"group": c.Resources[i].Group, "domain": c.Resources[i].Domain, "kind": c.Resources[i].Kind} {
			if delete(m, key); value != "" {
				m[key] = value
			}
		}
		resources[i] = m
	}
	want := maps.Clone(doc.Value)
	if len(list) > 0 {
		want["resources"] = resources
	}
	if src, err = yamledit.Rewrite(src, want); err != nil {
		return nil, err
	}
	return c.Encode(src)
}
