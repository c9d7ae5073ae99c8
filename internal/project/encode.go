package project

import (
	"encoding/json"

	"github.com/operon-dev/operon/internal/edit/yamledit"
)

// header stands at the top of a PROJECT file that operon makes.
const header = `# This file tells operon, and kubebuilder, what this project is called, which
# plugins shape it and which kinds it has. operon changes single lines of it:
# comments and keys that you add stay, also across upgrades.
`

// Encode returns src with the lines changed in which it differs from c: keys
// that Config does not know, comments, blank lines, quotes and the order of keys
// survive, and a file that says what c says is returned as it is. Without src a
// new file is made, with sorted keys as kubebuilder writes it.
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

// sameEntry tells whether two list items speak of one thing: a resource, a
// controller, or a plugin's note about a resource.
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
