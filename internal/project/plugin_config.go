package project

import (
	"encoding/json"
	"maps"

	"github.com/operon-dev/operon/internal/fault"
)

// DecodePluginConfig reads what PROJECT remembers for a plugin, below plugins and its key.
func (c *Config) DecodePluginConfig(key string, into any) error {
	content, err := json.Marshal(c.Plugins[key])
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	if err != nil {
		return fault.Usage("restore it from version control", "PROJECT: plugins: %s: %v", key, err)
	}
	return nil
}

// EncodePluginConfig makes PROJECT remember plain data for a plugin.
func (c *Config) EncodePluginConfig(key string, data any) {
	content, err := json.Marshal(data)
	var tree any
	if err == nil {
		err = json.Unmarshal(content, &tree)
	}
	if err != nil {
		panic(err) // it is plain data
	}
	c.setPluginConfig(key, integers(tree))
}

// setPluginConfig changes what is recorded for a plugin, in a copy: others may share it.
func (c *Config) setPluginConfig(key string, v any) {
	c.Plugins = maps.Clone(c.Plugins)
	if c.Plugins == nil {
		c.Plugins = map[string]any{}
	}
	c.Plugins[key] = v
}

// integers makes the numbers of JSON those of YAML.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			v[key] = integers(item)
		}
	case []any:
		for i, item := range v {
			v[i] = integers(item)
		}
	case float64:
		return int(v)
	}
	return v
}
