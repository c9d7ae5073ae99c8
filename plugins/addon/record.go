package addon

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
)

// record is what PROJECT remembers of a project of modules, below plugins and Key.
type record struct {
	Modules []Module `json:"modules,omitempty"`
	Hooks   []Hook   `json:"hooks,omitempty"`
}

// Module is a module as it was asked for.
type Module struct {
	Name    string `json:"name"`
	Weight  int    `json:"weight"`
	Enabled bool   `json:"enabledScript,omitempty"` // it has a script that decides whether it is enabled
}

// Hook is a hook as it was asked for.
type Hook struct {
	Name       string         `json:"name"`
	Module     string         `json:"module,omitempty"` // "": a global hook
	Startup    *int           `json:"startup,omitempty"`
	Steps      map[string]int `json:"steps,omitempty"` // order by binding
	Kubernetes []Objects      `json:"kubernetes,omitempty"`
	Schedule   []Schedule     `json:"schedule,omitempty"`
}

// Objects is a binding to objects of one kind.
type Objects struct {
	Name       string `json:"name"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// Schedule is a binding to the clock.
type Schedule struct {
	Name    string `json:"name"`
	Crontab string `json:"crontab"`
}

// recorded reads what PROJECT remembers.
func recorded(c *project.Config) (record, error) {
	var r record
	content, err := json.Marshal(c.Plugins[Key])
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil {
		return r, fault.Usage("restore it from version control", "PROJECT: plugins: %s: %v", Key, err)
	}
	return r, nil
}

// save makes PROJECT remember r.
func (r record) save(c *project.Config) {
	content, err := json.Marshal(r)
	var tree map[string]any
	if err == nil {
		err = json.Unmarshal(content, &tree)
	}
	if err != nil {
		panic(err) // it is plain data
	}
	c.Plugins = maps.Clone(c.Plugins)
	if c.Plugins == nil {
		c.Plugins = map[string]any{}
	}
	c.Plugins[Key] = whole(tree)
}

// whole makes the numbers of JSON those of YAML.
func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			v[key] = whole(item)
		}
	case []any:
		for i, item := range v {
			v[i] = whole(item)
		}
	case float64:
		return int(v)
	}
	return v
}

func (r record) module(name string) (Module, bool) {
	i := slices.IndexFunc(r.Modules, func(m Module) bool { return m.Name == name })
	if i < 0 {
		return Module{}, false
	}
	return r.Modules[i], true
}

func (r record) hook(module, name string) (Hook, bool) {
	i := slices.IndexFunc(r.Hooks, func(h Hook) bool { return h.Name == name && h.Module == module })
	if i < 0 {
		return Hook{}, false
	}
	return r.Hooks[i], true
}
