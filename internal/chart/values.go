package chart

import (
	"fmt"
	"maps"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"helm.sh/helm/v3/pkg/chart"
)

// coalesce returns the values for a chart and its dependencies: the given values and, where they
// lack a key, the defaults. Objects are merged. A given null removes a default. The result is a
// deep copy.
func coalesce(c *chart.Chart, given map[string]any) (map[string]any, error) {
	values := map[string]any{}
	for key, v := range given {
		values[key] = jsonvalue.Clone(v)
	}
	for key, defaultValue := range c.Values {
		value, exists := values[key]
		switch {
		case !exists:
			values[key] = jsonvalue.Clone(defaultValue)
		case value == nil:
			delete(values, key)
		default:
			addDefaults(value, defaultValue, isDependency(c, key))
		}
	}
	for _, d := range c.Dependencies() {
		own := map[string]any{}
		if v, exists := values[d.Name()]; exists {
			var isObject bool
			if own, isObject = v.(map[string]any); !isObject {
				return nil, &Error{File: "values.yaml", Msg: fmt.Sprintf("%s must be an object, because a dependency has this name", d.Name())}
			}
		}
		mergeGlobals(own, values)
		coalesced, err := coalesce(d, own)
		if err != nil {
			return nil, err
		}
		values[d.Name()] = coalesced
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

// addDefaults adds defaults to an object for keys that it does not have. A null removes a default.
// If keepNulls is set, the null remains for the dependencies.
func addDefaults(value, defaultValue any, keepNulls bool) {
	object, isObject := value.(map[string]any)
	defaults, defaultIsObject := defaultValue.(map[string]any)
	if !isObject || !defaultIsObject {
		return
	}
	for key, v := range defaults {
		existing, exists := object[key]
		switch {
		case !exists:
			object[key] = jsonvalue.Clone(v)
		case existing == nil:
			if v != nil && !keepNulls {
				delete(object, key)
			}
		default:
			addDefaults(existing, v, keepNulls)
		}
	}
}

// mergeGlobals merges the global values of the parent into those of a dependency. The values of
// the parent win, except that they do not replace an object by another value, or the reverse.
func mergeGlobals(own, parent map[string]any) {
	ownGlobals, isObject := own["global"].(map[string]any)
	if _, exists := own["global"]; exists && !isObject {
		return
	}
	parentGlobals, isObject := parent["global"].(map[string]any)
	if _, exists := parent["global"]; exists && !isObject {
		return
	}
	merged := map[string]any{}
	maps.Copy(merged, ownGlobals)
	for key, v := range parentGlobals {
		ownObject, ownIsObject := ownGlobals[key].(map[string]any)
		object, isObject := jsonvalue.Clone(v).(map[string]any)
		switch {
		case isObject && ownIsObject:
			addDefaults(object, ownObject, true)
			merged[key] = object
		case isObject:
			if _, exists := ownGlobals[key]; !exists {
				merged[key] = object
			}
		case !ownIsObject:
			merged[key] = v
		}
	}
	own["global"] = merged
}

// selectDependencies removes the dependencies that the values disable, and applies aliases to the
// others.
func selectDependencies(c *chart.Chart, values map[string]any) error {
	kept := c.Dependencies()[:0:0]
	listed := map[string]bool{}
	for _, entry := range c.Metadata.Dependencies {
		if len(entry.ImportValues) > 0 {
			return &Error{File: "Chart.yaml", Msg: "the dependency " + entry.Name + " has import-values, which only Helm supports: operon cannot render the chart"}
		}
		listed[entry.Name] = true
		for _, d := range c.Dependencies() {
			if d.Metadata.Name != entry.Name || !isEnabled(entry, values) {
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
		if err := selectDependencies(d, own); err != nil {
			return err
		}
	}
	return nil
}

// copyDefaults copies the defaults of dependencies to the chart that lists them. As in Helm, a
// null for a global value therefore does not reach the dependencies.
func copyDefaults(c *chart.Chart) error {
	for _, d := range c.Dependencies() {
		if err := copyDefaults(d); err != nil {
			return err
		}
	}
	if c.Metadata.Dependencies == nil {
		return nil
	}
	var err error
	c.Values, err = coalesce(c, nil)
	return err
}

// isEnabled reports whether a dependency is enabled: by the first of its conditions that has a
// value or, if there is none, by its tags.
func isEnabled(d *chart.Dependency, values map[string]any) bool {
	for condition := range strings.SplitSeq(d.Condition, ",") {
		if enabled, isBool := lookup(values, strings.Split(strings.TrimSpace(condition), ".")).(bool); isBool {
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

// lookup returns the value at a path, or nil.
func lookup(values map[string]any, path []string) any {
	var v any = values
	for _, step := range path {
		object, isObject := v.(map[string]any)
		if !isObject {
			return nil
		}
		v = object[step]
	}
	return v
}
