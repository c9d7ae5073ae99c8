package shell

import (
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
)

// record is the data of a shell project in PROJECT, below plugins and Key.
type record struct {
	Lang  string              `json:"lang,omitempty"` // default language of hooks
	Hooks []hookscaffold.Hook `json:"hooks,omitempty"`
}

// recorded reads and validates the record in PROJECT.
func recorded(c *project.Config) (record, error) {
	var r record
	if err := c.DecodePluginConfig(Key, &r); err != nil {
		return r, err
	}
	if err := hookscaffold.CheckLang(r.Lang); err != nil {
		return r, project.InPluginConfig(Key, err)
	}
	for i, h := range r.Hooks {
		if err := h.Check(); err != nil {
			return r, project.InPluginConfig(Key, err)
		}
		if slices.ContainsFunc(r.Hooks[:i], func(o hookscaffold.Hook) bool { return o.Name == h.Name }) {
			return r, project.InPluginConfig(Key, fault.Usage("remove one of them", "the hook %s occurs twice", h.Name))
		}
	}
	return r, nil
}

// Hooks returns the paths of the hooks that PROJECT records.
func Hooks(c *project.Config) ([]string, error) {
	r, err := recorded(c)
	var files []string
	for _, h := range r.Hooks {
		files = append(files, h.Path(place(h)))
	}
	return files, err
}

// find returns the hook with a name.
func (r record) find(name string) (hookscaffold.Hook, bool) {
	i := slices.IndexFunc(r.Hooks, func(h hookscaffold.Hook) bool { return h.Name == name })
	if i < 0 {
		return hookscaffold.Hook{}, false
	}
	return r.Hooks[i], true
}

// languages returns the languages of the project's hooks, and the default language.
func (r record) languages() []string {
	all := []string{r.Lang}
	for _, h := range r.Hooks {
		all = append(all, h.Lang)
	}
	return all
}

// place returns where a hook belongs in the project.
func place(h hookscaffold.Hook) hookscaffold.Place {
	return hookscaffold.Place{
		Owner: config.Shell, File: hooksDir + "/" + h.Name, Test: "test/hooks/" + h.Name + ".yaml",
		Folder: hooksDir + "/", Library: libraryDir, CRDs: crdBases,
	}
}
