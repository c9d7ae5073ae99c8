package project

import (
	"maps"
	"slices"
)

// FieldsKey is the key below plugins in PROJECT that records the descriptions of the fields of kinds:
//
//	fields.operon.dev/v1:
//	  resources:
//	  - {group: ship, domain: example.org, version: v1, kind: Frigate, fields: ["guns:int32,min=1"]}
//
// operon needs the record to write the types again.
const FieldsKey = "fields.operon.dev/v1"

// Fields returns the descriptions of the fields of r: those that follow from an operand, and the
// recorded ones.
func (c *Config) Fields(r Resource) []string {
	return append(c.OperandFields(r), c.recordedFields(r)...)
}

func (c *Config) recordedFields(r Resource) []string {
	wanted := entryOf(r, "", Features{})
	for _, entry := range c.entries(FieldsKey) {
		if m, ok := entry.(map[string]any); ok && sameEntry(m, wanted) {
			return texts(m["fields"])
		}
	}
	return nil
}

// PutFields records the descriptions of the fields of r. It omits those that follow from an operand.
func (c *Config) PutFields(r Resource, descriptions []string) {
	entry := entryOf(r, "", Features{})
	var list []any
	for _, d := range descriptions {
		if !slices.Contains(c.OperandFields(r), d) {
			list = append(list, d)
		}
	}
	entry["fields"] = list
	c.putEntry(FieldsKey, entry)
}

// entries returns the list of resources in the configuration of a plugin.
func (c *Config) entries(plugin string) []any {
	config, _ := c.Plugins[plugin].(map[string]any)
	all, _ := config["resources"].([]any)
	return all
}

// putEntry replaces the entry of the same resource in the configuration of a plugin, or appends it. It
// keeps keys of other tools.
func (c *Config) putEntry(plugin string, entry map[string]any) {
	all := slices.Clone(c.entries(plugin))
	if i := slices.IndexFunc(all, func(old any) bool { return sameEntry(old, entry) }); i >= 0 {
		all[i] = entry
	} else {
		all = append(all, entry)
	}
	config := map[string]any{}
	if old, ok := c.Plugins[plugin].(map[string]any); ok {
		config = maps.Clone(old)
	}
	config["resources"] = all
	c.setPluginConfig(plugin, config)
}
