package chart

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v3/pkg/chart"
)

// withOwnDependencies returns a copy of a chart for selectDependencies and importValues to change.
func withOwnDependencies(c *chart.Chart) *chart.Chart {
	other, metadata := *c, *c.Metadata
	metadata.Dependencies = slices.Clone(metadata.Dependencies)
	for i, entry := range metadata.Dependencies {
		own := *entry
		own.ImportValues = slices.Clone(entry.ImportValues)
		metadata.Dependencies[i] = &own
	}
	other.Metadata = &metadata
	var deps []*chart.Chart
	for _, d := range c.Dependencies() {
		deps = append(deps, withOwnDependencies(d))
	}
	other.SetDependencies(deps...)
	return &other
}

// selectDependencies applies the aliases of dependencies, and removes those that the values disable.
// values are the values of the whole chart, and path is where the values of c are, such as "a.b.".
//
// It follows Helm even where that surprises:
//   - the tags of the whole chart apply at every level
//   - a chart that lists no dependencies keeps all that its folder has
//   - two aliases of one chart share its list of dependencies, so aliases in that list work only for
//     the first
func selectDependencies(c *chart.Chart, values map[string]any, path string) error {
	if c.Metadata.Dependencies == nil {
		return nil
	}
	c.SetDependencies(withAliases(c)...)
	values, err := coalesce(c, clone(values), false)
	if err != nil {
		return err
	}
	disabled := map[string]bool{}
	for _, entry := range c.Metadata.Dependencies {
		if !isEnabled(entry, values, path) {
			disabled[entry.Name] = true
		}
	}
	var kept []*chart.Chart
	for _, d := range c.Dependencies() {
		if !disabled[d.Name()] {
			kept = append(kept, d)
		}
	}
	c.SetDependencies(kept...)
	var entries []*chart.Dependency
	for _, entry := range c.Metadata.Dependencies {
		if !disabled[entry.Name] {
			entries = append(entries, entry)
		}
	}
	c.Metadata.Dependencies = entries
	for _, d := range kept {
		if err := selectDependencies(d, values, path+d.Name()+"."); err != nil {
			return err
		}
	}
	return nil
}

// withAliases returns the dependencies of a chart: those that Chart.yaml does not list, and then a
// copy for each entry of the list. It gives charts and entries the names of their aliases.
func withAliases(c *chart.Chart) []*chart.Chart {
	var all []*chart.Chart
	for _, d := range c.Dependencies() {
		if !slices.ContainsFunc(c.Metadata.Dependencies, func(entry *chart.Dependency) bool { return Satisfies(d, entry) }) {
			all = append(all, d)
		}
	}
	for _, entry := range c.Metadata.Dependencies {
		i := slices.IndexFunc(c.Dependencies(), func(d *chart.Chart) bool { return Satisfies(d, entry) })
		if i >= 0 {
			renamed, metadata := *c.Dependencies()[i], *c.Dependencies()[i].Metadata
			if entry.Alias != "" {
				metadata.Name = entry.Alias
			}
			renamed.Metadata = &metadata
			all = append(all, &renamed)
		}
		if entry.Alias != "" {
			entry.Name = entry.Alias
		}
	}
	return all
}

// Satisfies reports whether a chart has the name and a version that an entry in a list of
// dependencies asks for.
func Satisfies(d *chart.Chart, entry *chart.Dependency) bool {
	if d.Name() != entry.Name {
		return false
	}
	version, err := semver.NewVersion(d.Metadata.Version)
	if err != nil {
		return false
	}
	constraint, err := semver.NewConstraint(entry.Version)
	return err == nil && constraint.Check(version)
}

// isEnabled reports whether a dependency is enabled: by the first of its conditions that has a
// value or, if there is none, by its tags.
func isEnabled(d *chart.Dependency, values map[string]any, path string) bool {
	for condition := range strings.SplitSeq(strings.TrimSpace(d.Condition), ",") {
		if enabled, isBool := lookup(values, strings.Split(path+condition, ".")).(bool); isBool && condition != "" {
			return enabled
		}
	}
	anyEnabled, anyDisabled := false, false
	for _, tag := range d.Tags {
		if v, isBool := lookup(values, []string{"tags", tag}).(bool); isBool {
			anyEnabled, anyDisabled = anyEnabled || v, anyDisabled || !v
		}
	}
	return anyEnabled || !anyDisabled
}

// importValues copies the defaults of dependencies to the chart that lists them, and adds the values
// that it imports from them where it has none.
func importValues(c *chart.Chart) error {
	for _, d := range c.Dependencies() {
		if err := importValues(d); err != nil {
			return err
		}
	}
	if c.Metadata.Dependencies == nil {
		return nil
	}
	values, err := coalesce(c, map[string]any{}, true)
	if err != nil {
		return err
	}
	imported := map[string]any{}
	for _, entry := range c.Metadata.Dependencies {
		for i, item := range entry.ImportValues {
			var child, parent string
			switch item := item.(type) {
			case map[string]any:
				child, parent = fmt.Sprint(item["child"]), fmt.Sprint(item["parent"])
			case string:
				child, parent = "exports."+item, "."
			default:
				continue
			}
			entry.ImportValues[i] = nil // as in Helm, only the first alias of a chart imports
			if object, isObject := lookup(values, strings.Split(entry.Name+"."+child, ".")).(map[string]any); isObject {
				addDefaults(imported, under(parent, clone(object)), true)
			}
		}
	}
	c.Values = clone(values)
	addDefaults(c.Values, imported, true)
	return nil
}

// under returns an object with another one at a path such as a.b, or "." for the object itself.
func under(path string, object map[string]any) map[string]any {
	if path == "." {
		return object
	}
	steps := strings.Split(path, ".")
	for _, step := range slices.Backward(steps) {
		object = map[string]any{step: object}
	}
	return object
}
