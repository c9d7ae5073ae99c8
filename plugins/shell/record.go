package shell

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
)

// record is what PROJECT remembers of a shell project, below plugins and Key.
type record struct {
	Lang  string `json:"lang,omitempty"` // of hooks that say nothing else
	Hooks []Hook `json:"hooks,omitempty"`
}

// Hook is a hook as it was asked for.
type Hook struct {
	Name       string       `json:"name"`
	Lang       string       `json:"lang"`
	Startup    *int         `json:"startup,omitempty"` // the order of onStartup
	Kubernetes []Objects    `json:"kubernetes,omitempty"`
	Schedule   []Schedule   `json:"schedule,omitempty"`
	Validate   []Admission  `json:"validate,omitempty"`
	Mutate     []Admission  `json:"mutate,omitempty"`
	Convert    []Conversion `json:"convert,omitempty"`
}

// Kind is a kind as an API server names it.
type Kind struct {
	APIVersion    string `json:"apiVersion"`
	Kind          string `json:"kind"`
	Resource      string `json:"resource"` // the plural
	ClusterScoped bool   `json:"clusterScoped,omitempty"`
}

// Objects is a binding to objects of one kind.
type Objects struct {
	Name          string `json:"name"`
	Kind          `json:",inline"`
	Namespaces    []string `json:"namespaces,omitempty"`
	Names         []string `json:"names,omitempty"`
	Selector      string   `json:"selector,omitempty"`      // as kubectl takes it
	FieldSelector string   `json:"fieldSelector,omitempty"` // as kubectl takes it
	JQ            string   `json:"jq,omitempty"`
	Events        []string `json:"events,omitempty"` // none: all; the word none: a snapshot only
	Group         string   `json:"group,omitempty"`
	Queue         string   `json:"queue,omitempty"`
}

// Schedule is a binding to the clock.
type Schedule struct {
	Name    string `json:"name"`
	Crontab string `json:"crontab"`
	Group   string `json:"group,omitempty"`
	Queue   string `json:"queue,omitempty"`
}

// Admission is a binding to requests to create and update objects of a kind.
type Admission struct {
	Name string `json:"name"`
	Kind `json:",inline"`
}

// Conversion is a binding to requests to convert objects of a CRD.
type Conversion struct {
	Name  string `json:"name"`
	CRD   string `json:"crd"`
	Group string `json:"group"` // of the API
	Kind  string `json:"kind"`
	Steps []Step `json:"steps"`
	Scope string `json:"scope"` // Namespaced or Cluster
}

// Step is a conversion from one version to another.
type Step struct {
	From string `json:"from"`
	To   string `json:"to"`
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

// find returns the hook of a name.
func (r record) find(name string) (Hook, bool) {
	i := slices.IndexFunc(r.Hooks, func(h Hook) bool { return h.Name == name })
	if i < 0 {
		return Hook{}, false
	}
	return r.Hooks[i], true
}

// languages are those that the project has hooks in, or will.
func (r record) languages() []string {
	all := []string{r.Lang}
	for _, h := range r.Hooks {
		all = append(all, h.Lang)
	}
	return all
}
