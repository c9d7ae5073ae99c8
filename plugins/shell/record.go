package shell

import (
	"slices"

	"github.com/operon-dev/operon/internal/draft"
	"github.com/operon-dev/operon/internal/hook/config"
	"github.com/operon-dev/operon/internal/project"
)

// record is what PROJECT remembers of a shell project, below plugins and Key.
type record struct {
	Lang  string       `json:"lang,omitempty"` // of hooks that say nothing else
	Hooks []draft.Hook `json:"hooks,omitempty"`
}

// recorded reads what PROJECT remembers.
func recorded(c *project.Config) (record, error) {
	var r record
	return r, c.Recall(Key, &r)
}

// find returns the hook of a name.
func (r record) find(name string) (draft.Hook, bool) {
	i := slices.IndexFunc(r.Hooks, func(h draft.Hook) bool { return h.Name == name })
	if i < 0 {
		return draft.Hook{}, false
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
func place(h draft.Hook) draft.Place {
	return draft.Place{Owner: config.Shell, File: hooksDir + "/" + h.Name, Test: "test/hooks/" + h.Name + ".yaml", Folder: hooksDir + "/", Library: "lib", CRDs: crdBases}
}
