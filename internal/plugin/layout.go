package plugin

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
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

// Layout is an entry of the catalogue: a key that PROJECT's layout can contain,
// and its plugins.
type Layout struct {
	Key     string
	Short   string   // another name in --plugins; empty: the first label of the key
	Aliases []string // keys of other programs for plugins that this one includes
	Logic   Logic
	Plugins Set
	// Hooks returns the paths of the hooks that PROJECT records. It can be nil.
	Hooks func(*project.Config) ([]string, error)
	// Chart returns the folder of the Helm chart that the plugins make of the manifests of a project. It is
	// nil for layouts without such a chart.
	Chart func(*project.Config) (string, error)
	// Companion is true if the layout accompanies another one. PROJECT then records the key
	// below plugins instead of in layout.
	Companion bool
	// External is true if the layout is a program that the user installed. PROJECT records it in layout if the
	// project starts with it, and otherwise below plugins.
	External bool
	// Existing is true if only projects that operon did not start have the layout.
	Existing bool
	// PerCall is true if the key stands for flags of create api, which other plugins implement. It is
	// not a layout.
	PerCall bool
}

// Doc returns the phrase of the plugin that has the name of the layout.
func (l Layout) Doc() string {
	for _, p := range l.Plugins {
		if p.Name() == l.Key {
			return p.Doc()
		}
	}
	return ""
}

// Names returns the names of this layout: its key, and its short name, or the first label of
// the key with and without the version ("go", "go/v4").
func (l Layout) Names() []string {
	if l.Short != "" {
		return append([]string{l.Key, l.Short}, l.Aliases...)
	}
	domain, version, _ := strings.Cut(l.Key, "/")
	label, _, _ := strings.Cut(domain, ".")
	return []string{l.Key, label, label + "/" + version}
}

// Catalogue is the list of layouts. The first one is the default for new
// projects.
type Catalogue []Layout

// Has reports whether a project with this layout has this kind of logic.
func (c Catalogue) Has(layout []string, logic Logic) bool {
	return slices.ContainsFunc(c, func(l Layout) bool { return l.Logic == logic && slices.Contains(layout, l.Key) })
}

// RecordedHooks returns the paths of the hooks that PROJECT records, as far as it is readable.
func (c Catalogue) RecordedHooks(p *project.Config) []string {
	var all []string
	for _, l := range c {
		if l.Hooks == nil || !slices.Contains(p.Layout, l.Key) {
			continue
		}
		if files, err := l.Hooks(p); err == nil {
			all = append(all, files...)
		}
	}
	return all
}

// Chart returns the layout that PROJECT records and that makes a Helm chart of the manifests.
func (c Catalogue) Chart(p *project.Config) (l Layout, found bool) {
	i := slices.IndexFunc(c, func(l Layout) bool {
		_, recorded := p.Plugins[l.Key]
		return l.Chart != nil && recorded
	})
	if i < 0 {
		return Layout{}, false
	}
	return c[i], true
}

// layoutKey matches a layout key of PROJECT version 3.
var layoutKey = lazyregexp.New(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\.[a-z0-9-]+/v[1-9][0-9]*(-alpha|-beta)?$`)

// notYet returns what operators with a layout of operator-sdk are based on, if operon has none.
func notYet(name string) string {
	if short, _, _ := strings.Cut(name, ".sdk.operatorframework.io/"); short == "ansible" {
		return "Ansible"
	}
	return ""
}

// CheckLayout returns an error for the layout of an operator-sdk project whose operator operon cannot
// change or test. Commands for manifests, bundles and catalogs need no plugin.
func CheckLayout(layout []string) error {
	for _, key := range layout {
		if other := notYet(key); other != "" {
			return fault.Usage("use operator-sdk for it; operon bundle, catalog, installer, kustomize, olm, run and scorecard work in this project",
				"operon does not have operators based on %s yet, and the layout is %s", other, strings.Join(layout, ", "))
		}
	}
	return nil
}

// Resolve maps keys and short names to full keys, in order and without
// duplicates. It keeps unknown full keys, which can belong to another tool. A short name that a
// layout and a companion share is that of the companion for companions and beside another layout, and
// otherwise of the layout.
func (c Catalogue) Resolve(names []string, companions bool) ([]string, error) {
	var keys []string
	for _, n := range names {
		if named := c.named(n); len(named) == 1 && !named[0].Companion && !named[0].External {
			companions = true
		}
	}
	for _, n := range names {
		key := n
		if named := c.named(n); len(named) > 0 {
			chosen := named[max(0, slices.IndexFunc(named, func(l Layout) bool { return l.Companion == companions }))]
			if key = chosen.Key; chosen.PerCall {
				return nil, fault.Usage("use it with operon create api --plugins", "the plugin %s is for a single create api", n)
			} else if chosen.Existing {
				return nil, fault.Usage("use one of "+strings.Join(c.Keys(), ", "), "the layout %s is for repositories that operon did not start", key)
			}
		} else if other := notYet(n); other != "" {
			return nil, fault.Usage("use operator-sdk for them", "operon does not have operators based on %s yet", other)
		} else if !layoutKey().MatchString(n) {
			return nil, fault.Usage(c.suggestion(n), "unknown plugin %q", n)
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// named returns the layouts with a name.
func (c Catalogue) named(name string) Catalogue {
	return slices.DeleteFunc(slices.Clone(c), func(l Layout) bool { return !slices.Contains(l.Names(), name) })
}

// suggestion returns a hint for an unknown layout name.
func (c Catalogue) suggestion(name string) string {
	var names []string
	for _, l := range c {
		if !l.Existing && !l.PerCall {
			names = append(names, l.Names()...)
		}
	}
	if near := fault.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "valid plugins: " + strings.Join(c.Keys(), ", ")
}

// Unknown returns the keys and names that the catalogue does not have.
func (c Catalogue) Unknown(names iter.Seq[string]) []string {
	var unknown []string
	for name := range names {
		if !slices.ContainsFunc(c, func(l Layout) bool { return slices.Contains(l.Names(), name) }) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// Select returns the plugins for the layout of a project. It returns unknown
// keys next to a known one, for a warning. A layout without a known key is an
// error.
func (c Catalogue) Select(layout []string) (active Set, unknown []string, err error) {
	var logic Layout // the layout that implements the operator
	for _, key := range layout {
		i := slices.IndexFunc(c, func(l Layout) bool { return l.Key == key })
		if i < 0 {
			unknown = append(unknown, key)
			continue
		}
		if l := c[i]; l.Logic != "" {
			if logic.Logic != "" && logic.Key != key {
				return nil, nil, fault.Usage("keep one of them", "a project has only one of the layouts %s and %s", logic.Key, key)
			}
			logic = l
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
// keys are those of the configurations of plugins in PROJECT.
func (c Catalogue) CheckConfigs(layout []string, keys iter.Seq[string]) error {
	for _, key := range slices.Sorted(keys) {
		if slices.ContainsFunc(c, func(l Layout) bool { return l.Key == key && l.Logic != "" }) && !slices.Contains(layout, key) {
			return fault.Usage("correct the key layout, or remove "+key+" from plugins",
				"PROJECT has the layout %s, but a configuration for %s", strings.Join(layout, ", "), key)
		}
	}
	return nil
}

// Active returns the plugins for a project: those of its layout, and then those of the
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

// IsExternal reports whether a key is that of an external plugin.
func (c Catalogue) IsExternal(key string) bool {
	return slices.ContainsFunc(c, func(l Layout) bool { return l.Key == key && l.External })
}

// CanAdd reports whether the plugin with a key can be added to a project of another layout.
func (c Catalogue) CanAdd(key string) bool {
	return slices.ContainsFunc(c, func(l Layout) bool { return l.Key == key && (l.Companion || l.External) })
}

// ActiveCompanions returns the plugins of the companions that PROJECT records.
func (c Catalogue) ActiveCompanions(p *project.Config) (active Set) {
	for _, l := range c {
		if _, recorded := p.Plugins[l.Key]; (l.Companion || l.External) && recorded {
			active = active.with(l.Plugins)
		}
	}
	return active
}

// Split separates the keys that PROJECT records in layout from those of companions.
func (c Catalogue) Split(keys []string) (layout, companions []string) {
	for _, key := range keys {
		if slices.ContainsFunc(c, func(l Layout) bool { return l.Key == key && l.Companion }) {
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
	for _, l := range c {
		all = all.with(l.Plugins)
	}
	return all
}

// Companions returns the short names of the plugins that accompany a layout.
func (c Catalogue) Companions() []string {
	var names []string
	for _, l := range c {
		if l.Companion {
			names = append(names, l.Names()[1])
		}
	}
	return names
}

// Companion returns the short name of the companion with a key.
func (c Catalogue) Companion(key string) (name string, found bool) {
	for _, l := range c {
		if l.Companion && l.Key == key {
			return l.Names()[1], true
		}
	}
	return "", false
}

// Keys returns the names of all layouts for new projects in order: the short name of a companion,
// and otherwise the key.
func (c Catalogue) Keys() []string {
	var keys []string
	for _, l := range c {
		if !l.Existing && !l.PerCall {
			keys = append(keys, cmp.Or(l.Short, l.Key))
		}
	}
	return keys
}
