package kinds

import (
	_ "embed"
	"strings"
	"sync"
)

// Release is the version of Kubernetes whose kinds Builtin returns.
const Release = "1.37"

// allVerbs is the abbreviation of storedVerbs in builtin.txt.
const allVerbs = "*"

// storedVerbs are the verbs of kinds whose objects the API server stores.
var storedVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// recorded is the result of the discovery of an API server, which TestBuiltin records. Each
// line has group and version, kind, plural, scope, short names, categories, subresources and
// verbs.
//
//go:embed builtin.txt
var recorded string

// Builtin returns the kinds that every API server of the Release serves. The first call parses
// the table.
var Builtin = sync.OnceValue(func() *Table { return parse(recorded) })

func parse(text string) *Table {
	t := &Table{}
	versions := map[string][]string{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 8 || f[0] == "#" {
			continue
		}
		k := Kind{Kind: f[1], Singular: strings.ToLower(f[1]), Resource: f[2], Namespaced: f[3] == "namespaced",
			ShortNames: list(f[4]), Categories: list(f[5]), Subresources: list(f[6]), Verbs: list(f[7])}
		if f[7] == allVerbs {
			k.Verbs = storedVerbs
		}
		k.Version = f[0]
		if group, version, found := strings.Cut(f[0], "/"); found {
			k.Group, k.Version = group, version
		}
		versions[k.String()] = append(versions[k.String()], k.Version)
		t.kinds = append(t.kinds, k)
	}
	for i, k := range t.kinds {
		t.kinds[i].Versions = versions[k.String()]
	}
	t.builtin = len(t.kinds)
	return t
}

// list splits a column. A dash means an empty list.
func list(column string) []string {
	if column == "-" {
		return nil
	}
	return strings.Split(column, ",")
}
