package chart

import (
	"fmt"
	"maps"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"helm.sh/helm/v3/pkg/chart"
)

// compose merges given values over the defaults of a chart and its dependencies. A given
// null removes a default, objects are merged, and other values replace the default. The
// result is a deep copy.
func compose(c *chart.Chart, given map[string]any) (map[string]any, error) {
	values := map[string]any{}
	for key, v := range given {
		values[key] = jsonvalue.Clone(v)
	}
	for key, preset := range c.Values {
		have, there := values[key]
		switch {
		case !there:
			values[key] = jsonvalue.Clone(preset)
		case have == nil:
			delete(values, key)
		default:
			below(have, preset, isDependency(c, key))
		}
	}
	for _, d := range c.Dependencies() {
		own := map[string]any{}
		if v, there := values[d.Name()]; there {
			var isTable bool
			if own, isTable = v.(map[string]any); !isTable {
				return nil, &Error{File: "values.yaml", Msg: fmt.Sprintf("%s must be an object, for a dependency has that name", d.Name())}
			}
		}
		globals(own, values)
		composed, err := compose(d, own)
		if err != nil {
			return nil, err
		}
		values[d.Name()] = composed
	}
	return values, nil
}

func isDependency(c *chart.Chart, name string) bool {
	for _, d := range c.Dependencies() {
		if d.Name() == name {
			return true
		}
	}
	return false
}

// below adds presets to an object for keys that it does not have. A null removes a preset.
// If keep is set, the null stays for the dependencies.
func below(have, preset any, keep bool) {
	to, isTable := have.(map[string]any)
	from, other := preset.(map[string]any)
	if !isTable || !other {
		return
	}
	for key, v := range from {
		have, there := to[key]
		switch {
		case !there:
			to[key] = jsonvalue.Clone(v)
		case have == nil:
			if v != nil && !keep {
				delete(to, key)
			}
		default:
			below(have, v, keep)
		}
	}
}

// globals merges the parent's global values over those of a dependency.
func globals(own, parent map[string]any) {
	to, isTable := own["global"].(map[string]any)
	if _, there := own["global"]; there && !isTable {
		return
	}
	from, isTable := parent["global"].(map[string]any)
	if _, there := parent["global"]; there && !isTable {
		return
	}
	merged := map[string]any{}
	maps.Copy(merged, to)
	for key, v := range from {
		had, hadTable := to[key].(map[string]any)
		table, isTable := jsonvalue.Clone(v).(map[string]any)
		switch {
		case isTable && hadTable:
			below(table, had, true)
			merged[key] = table
		case isTable:
			if _, there := to[key]; !there {
				merged[key] = table
			}
		case !hadTable:
			merged[key] = v
		}
	}
	own["global"] = merged
}

// choose removes the dependencies that values disable, and applies aliases to the others.
func choose(c *chart.Chart, values map[string]any) error {
	kept := c.Dependencies()[:0:0]
	listed := map[string]bool{}
	for _, entry := range c.Metadata.Dependencies {
		if len(entry.ImportValues) > 0 {
			return &Error{File: "Chart.yaml", Msg: "import-values of the dependency " + entry.Name + " are known to Helm alone: it cannot be rendered here"}
		}
		listed[entry.Name] = true
		for _, d := range c.Dependencies() {
			if d.Metadata.Name != entry.Name || !wanted(entry, values) {
				continue
			}
			if entry.Alias != "" {
				renamed, metadata := *d, *d.Metadata
				metadata.Name = entry.Alias
				renamed.Metadata = &metadata
				renamed.SetDependencies(d.Dependencies()...)
				d = &renamed
			}
			kept = append(kept, d)
		}
	}
	for _, d := range c.Dependencies() {
		if !listed[d.Metadata.Name] {
			kept = append(kept, d)
		}
	}
	c.SetDependencies(kept...)
	for _, d := range kept {
		own, _ := values[d.Name()].(map[string]any)
		if err := choose(d, own); err != nil {
			return err
		}
	}
	return nil
}

// settle copies the defaults of dependencies to the chart that lists them, as Helm does.
// So a null for a global value does not reach the dependencies.
func settle(c *chart.Chart) error {
	for _, d := range c.Dependencies() {
		if err := settle(d); err != nil {
			return err
		}
	}
	if c.Metadata.Dependencies == nil {
		return nil
	}
	var err error
	c.Values, err = compose(c, nil)
	return err
}

// wanted reports whether a dependency is enabled: by the first of its conditions that has
// a value, or else by any of its tags.
func wanted(d *chart.Dependency, values map[string]any) bool {
	for condition := range strings.SplitSeq(d.Condition, ",") {
		if on, isBool := lookup(values, strings.Split(strings.TrimSpace(condition), ".")).(bool); isBool {
			return on
		}
	}
	on, off := false, false
	for _, tag := range d.Tags {
		if v, isBool := lookup(values, []string{"tags", tag}).(bool); isBool {
			on, off = on || v, off || !v
		}
	}
	return on || !off
}

func lookup(values map[string]any, path []string) any {
	var v any = values
	for _, step := range path {
		table, isTable := v.(map[string]any)
		if !isTable {
			return nil
		}
		v = table[step]
	}
	return v
}
