package plugin

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
)

// Logic is how the projects of a layout implement the operator.
type Logic string

// The kinds of logic.
const (
	GoCode  Logic = "go"
	Hooks   Logic = "hooks"   // of shell-operator
	Modules Logic = "modules" // of addon-operator: charts with hooks
	Charts  Logic = "charts"  // that helm-operator installs
)

// Entry is a key that PROJECT can contain, and its plugins: a layout, or a companion of layouts.
type Entry struct {
	Key     string
	Short   string   // another name in --plugins; empty: the first label of the key
	Aliases []string // keys of other programs for plugins that this one includes
	Logic   Logic
	Plugins Set
	// Hooks returns the paths of the hooks that PROJECT records. It can be nil.
	Hooks func(*project.Config) ([]string, error)
	// Chart returns the folder of the Helm chart that the plugins make of the manifests of a project. It is
	// nil for plugins without such a chart.
	Chart func(*project.Config) (string, error)
	// Templates has the folders of the templates that the plugins render.
	Templates []string
	// Companion is true if the plugins accompany a layout. PROJECT then records the key below plugins instead
	// of in layout.
	Companion bool
	// External is true if the plugin is a program that the user installed. PROJECT records it in layout if the
	// project starts with it, and otherwise below plugins.
	External bool
	// Existing is true for a layout that only projects have which operon did not start.
	Existing bool
	// PerCall is true if the key stands for flags of create api, which other plugins implement.
	PerCall bool
}

// Doc returns the phrase of the plugin whose name is the key.
func (e Entry) Doc() string {
	for _, p := range e.Plugins {
		if p.Name() == e.Key {
			return p.Doc()
		}
	}
	return ""
}

// Names returns the names in --plugins: the key, and its short name, or the first label of
// the key with and without the version ("go", "go/v4").
func (e Entry) Names() []string {
	if e.Short != "" {
		return append([]string{e.Key, e.Short}, e.Aliases...)
	}
	domain, version, _ := strings.Cut(e.Key, "/")
	label, _, _ := strings.Cut(domain, ".")
	return []string{e.Key, label, label + "/" + version}
}

// Catalogue lists the plugins of operon and those that the user installed. The first entry is the layout of new
// projects without --plugins.
type Catalogue []Entry

// Has reports whether a project with this layout has this kind of logic.
func (c Catalogue) Has(layout []string, logic Logic) bool {
	return slices.ContainsFunc(c, func(e Entry) bool { return e.Logic == logic && slices.Contains(layout, e.Key) })
}

// RecordedHooks returns the paths of the hooks that PROJECT records, as far as it is readable.
func (c Catalogue) RecordedHooks(p *project.Config) []string {
	var all []string
	for _, e := range c {
		if e.Hooks == nil || !slices.Contains(p.Layout, e.Key) {
			continue
		}
		if files, err := e.Hooks(p); err == nil {
			all = append(all, files...)
		}
	}
	return all
}

// Templates returns the folders of the templates that a project with this layout can use: the folders of the layout and of all
// companions. It returns nil if no key of the layout is known.
func (c Catalogue) Templates(layout []string) []string {
	var folders, companions []string
	for _, e := range c {
		switch {
		case e.Companion:
			companions = append(companions, e.Templates...)
		case slices.Contains(layout, e.Key):
			folders = append(folders, e.Templates...)
		}
	}
	if len(folders) == 0 {
		return nil
	}
	return append(folders, companions...)
}

// Chart returns the entry that PROJECT records and that makes a Helm chart of the manifests.
func (c Catalogue) Chart(p *project.Config) (e Entry, found bool) {
	i := slices.IndexFunc(c, func(e Entry) bool {
		_, recorded := p.Plugins[e.Key]
		return e.Chart != nil && recorded
	})
	if i < 0 {
		return Entry{}, false
	}
	return c[i], true
}

// Select returns the plugins for the layout of a project. It returns unknown
// keys next to a known one, for a warning. A layout without a known key is an
// error.
func (c Catalogue) Select(layout []string) (active Set, unknown []string, err error) {
	var logic Entry // the layout that implements the operator
	for _, key := range layout {
		i := slices.IndexFunc(c, func(e Entry) bool { return e.Key == key })
		if i < 0 {
			unknown = append(unknown, key)
			continue
		}
		if e := c[i]; e.Logic != "" {
			if logic.Logic != "" && logic.Key != key {
				return nil, nil, fault.Usage("keep one of them", "a project has only one of the layouts %s and %s", logic.Key, key)
			}
			logic = e
		}
		active = active.with(c[i].Plugins)
	}
	if len(active) == 0 {
		if err := CheckLayout(layout); err != nil {
			return nil, nil, err
		}
		name := strings.Join(layout, ", ")
		hint := c.suggestion(name)
		if slices.ContainsFunc(layout, project.IsOldGoLayout) {
			hint = "run operon adopt, which records where this layout has its files"
		}
		return nil, nil, fault.Usage(hint, "operon has no plugin for the layout %s", name)
	}
	return active, unknown, nil
}

// CheckConfigs returns an error for the configuration of a layout that is not the project's.
// keys are the keys of the configurations of plugins in PROJECT.
func (c Catalogue) CheckConfigs(layout []string, keys iter.Seq[string]) error {
	for _, key := range slices.Sorted(keys) {
		if slices.ContainsFunc(c, func(e Entry) bool { return e.Key == key && e.Logic != "" }) && !slices.Contains(layout, key) {
			return fault.Usage("correct the key layout, or remove "+key+" from plugins",
				"PROJECT has the layout %s, but a configuration for %s", strings.Join(layout, ", "), key)
		}
	}
	return nil
}

// Active returns the plugins for a project: the plugins of its layout, and then the plugins of the
// companions that PROJECT records. External plugins are the last ones.
func (c Catalogue) Active(p *project.Config) (Set, error) {
	active, _, err := c.Select(p.Layout)
	active = active.with(c.ActiveCompanions(p))
	slices.SortStableFunc(active, func(a, b Plugin) int { return cmp.Compare(c.rank(a), c.rank(b)) })
	return active, err
}

// rank is 1 for external plugins, and otherwise 0.
func (c Catalogue) rank(p Plugin) int {
	if c.IsExternal(p.Name()) {
		return 1
	}
	return 0
}

// IsExternal reports whether a key belongs to an external plugin.
func (c Catalogue) IsExternal(key string) bool {
	return slices.ContainsFunc(c, func(e Entry) bool { return e.Key == key && e.External })
}

// CanAdd reports whether the plugin with a key can be added to a project of another layout.
func (c Catalogue) CanAdd(key string) bool {
	return slices.ContainsFunc(c, func(e Entry) bool { return e.Key == key && (e.Companion || e.External) })
}

// ActiveCompanions returns the plugins of the companions that PROJECT records.
func (c Catalogue) ActiveCompanions(p *project.Config) (active Set) {
	for _, e := range c {
		if _, recorded := p.Plugins[e.Key]; (e.Companion || e.External) && recorded {
			active = active.with(e.Plugins)
		}
	}
	return active
}

// Split separates the keys that PROJECT records in layout from the keys of companions.
func (c Catalogue) Split(keys []string) (layout, companions []string) {
	for _, key := range keys {
		if slices.ContainsFunc(c, func(e Entry) bool { return e.Key == key && e.Companion }) {
			companions = append(companions, key)
		} else {
			layout = append(layout, key)
		}
	}
	return layout, companions
}

// All returns every plugin of the catalogue once.
func (c Catalogue) All() Set {
	var all Set
	for _, e := range c {
		all = all.with(e.Plugins)
	}
	return all
}

// Companions returns the short names of the plugins that accompany a layout.
func (c Catalogue) Companions() []string {
	var names []string
	for _, e := range c {
		if e.Companion {
			names = append(names, e.Names()[1])
		}
	}
	return names
}

// Companion returns the short name of the companion with a key.
func (c Catalogue) Companion(key string) (name string, found bool) {
	for _, e := range c {
		if e.Companion && e.Key == key {
			return e.Names()[1], true
		}
	}
	return "", false
}

// keys returns the names of all layouts for new projects in order: the short name of a companion,
// and otherwise the key.
func (c Catalogue) keys() []string {
	var keys []string
	for _, e := range c {
		if !e.Existing && !e.PerCall {
			keys = append(keys, cmp.Or(e.Short, e.Key))
		}
	}
	return keys
}
