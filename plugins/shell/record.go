package shell

import (
	"slices"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
)

// record is what PROJECT remembers of a shell project, below plugins and Key.
type record struct {
	Lang  string              `json:"lang,omitempty"` // of hooks that say nothing else
	Hooks []hookscaffold.Hook `json:"hooks,omitempty"`
}

// recorded reads what PROJECT remembers.
func recorded(c *project.Config) (record, error) {
	var r record
	return r, c.DecodePluginConfig(Key, &r)
}

// find returns the hook of a name.
func (r record) find(name string) (hookscaffold.Hook, bool) {
	i := slices.IndexFunc(r.Hooks, func(h hookscaffold.Hook) bool { return h.Name == name })
	if i < 0 {
		return hookscaffold.Hook{}, false
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

// place is where a hook lies.
func place(h hookscaffold.Hook) hookscaffold.Place {
	return hookscaffold.Place{Owner: config.Shell, File: hooksDir + "/" + h.Name, Test: "test/hooks/" + h.Name + ".yaml", Folder: hooksDir + "/", Library: libraryDir, CRDs: crdBases}
}
