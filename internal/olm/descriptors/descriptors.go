// Package descriptors describes custom resources for the pages of catalogs: their names, the
// objects that belong to them, and the fields of spec and status. The descriptions come from
// schemas of CRDs, and from the marker +operator-sdk:csv:customresourcedefinitions in Go
// types.
package descriptors

import (
	"math"
	"slices"
)

// The parts of an object that have descriptors.
const (
	spec   = "spec"
	status = "status"
)

// Unordered is the order of a kind whose marker has none.
const Unordered = math.MaxInt

// Owned describes a version of a kind, as markers do.
type Owned struct {
	Order       int    // the position among the owned kinds
	DisplayName string // empty without marker
	Description string // the comment of the type
	Resources   []any  // what NewResource returns
	Spec        []any
	Status      []any

	// Derived are resources that count only if neither Resources nor the entry has any.
	Derived []any
}

// NewResource returns an item of resources: a kind of objects that belong to the owned kind.
func NewResource(kind, version, name string) map[string]any {
	return map[string]any{"kind": kind, "version": version, "name": name}
}

// Complete adds to entry, an item of spec.customresourcedefinitions.owned, what markers say,
// and to what is missing then, what the schema says. markers may be nil.
func Complete(entry map[string]any, kind string, markers *Owned, schema map[string]any) {
	if m := markers; m != nil {
		if m.DisplayName != "" {
			entry["displayName"] = m.DisplayName
		}
		if len(m.Resources) > 0 {
			entry["resources"] = m.Resources
		}
		if list, _ := entry["resources"].([]any); len(list) == 0 && len(m.Derived) > 0 {
			entry["resources"] = m.Derived
		}
		setDefault(entry, "description", m.Description)
		merge(entry, "specDescriptors", m.Spec)
		merge(entry, "statusDescriptors", m.Status)
	}
	text, _ := schema["description"].(string)
	setDefault(entry, "description", text)
	setDefault(entry, "displayName", Words(kind))
	for key, part := range map[string]string{"specDescriptors": spec, "statusDescriptors": status} {
		if _, ok := entry[key]; !ok {
			merge(entry, key, fromSchema(schema, part))
		}
	}
}

func setDefault(entry map[string]any, key, value string) {
	if text, _ := entry[key].(string); text == "" && value != "" {
		entry[key] = value
	}
}

// merge sets the descriptors, after which come the descriptors in the entry for other paths.
func merge(entry map[string]any, key string, list []any) {
	before, _ := entry[key].([]any)
	list = slices.Clone(list)
	for _, d := range before {
		same := func(other any) bool { return path(other) == path(d) }
		if !slices.ContainsFunc(list, same) {
			list = append(list, d)
		}
	}
	if len(list) > 0 {
		entry[key] = list
	}
}

func path(descriptor any) any {
	m, _ := descriptor.(map[string]any)
	return m["path"]
}
