package project

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"

	"github.com/operon-dev/operon/internal/fault"
)

// DecodePluginConfig decodes the configuration of a plugin in PROJECT.
func (c *Config) DecodePluginConfig(key string, into any) error {
	content, err := json.Marshal(c.Plugins[key])
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fault.Usage("restore it from version control", "PROJECT: plugins: %s: %s has an unexpected %s", key, cmp.Or(wrong.Field, "the key"), wrong.Value)
	}
	if err != nil {
		return fault.Usage("restore it from version control", "PROJECT: plugins: %s: %v", key, err)
	}
	return nil
}

// InPluginConfig adds the place of the configuration in PROJECT to an error about it.
func InPluginConfig(key string, err error) error {
	return fault.In(File+": plugins: "+key, err)
}

// EncodePluginConfig records the configuration of a plugin. data must be encodable as JSON.
func (c *Config) EncodePluginConfig(key string, data any) {
	content, err := json.Marshal(data)
	var tree any
	if err == nil {
		err = json.Unmarshal(content, &tree)
	}
	if err != nil {
		panic(err) // data is a struct of this program
	}
	c.setPluginConfig(key, integers(tree))
}

// SetPluginKey records one key in the configuration of a plugin and keeps the others. Without a value,
// it removes the key, and with the last key the plugin.
func (c *Config) SetPluginKey(plugin, key string, value any) {
	all := map[string]any{}
	if existing, isObject := c.Plugins[plugin].(map[string]any); isObject {
		all = maps.Clone(existing)
	}
	all[key] = value
	if value == nil {
		delete(all, key)
	}
	if len(all) > 0 {
		c.EncodePluginConfig(plugin, all)
		return
	}
	c.Plugins = maps.Clone(c.Plugins)
	delete(c.Plugins, plugin)
}

// setPluginConfig replaces the configuration of a plugin. It copies the map, which other
// values of Config may share.
func (c *Config) setPluginConfig(key string, v any) {
	c.Plugins = maps.Clone(c.Plugins)
	if c.Plugins == nil {
		c.Plugins = map[string]any{}
	}
	c.Plugins[key] = v
}

// integers converts the floats of JSON to the integers of YAML.
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
