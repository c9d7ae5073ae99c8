package rbac

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/jsonvalue"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"
)

// ValueSet is a set of values for a chart.
type ValueSet struct {
	Name   string // the path of its file, for example
	Values map[string]any
}

// ReadValues parses a file of values. The error is a *chart.Error.
func ReadValues(name string, content []byte) (ValueSet, error) {
	values := map[string]any{}
	if err := yaml.Unmarshal(content, &values); err != nil {
		if e := chart.NotMapping(name, content, err); e != nil {
			return ValueSet{}, e
		}
		return ValueSet{}, &chart.Error{File: name, Msg: strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")}
	}
	return ValueSet{name, values}, nil
}

// ciValues returns the sets of values in the folder ci of a chart, where chart-testing reads them.
func ciValues(c *helmchart.Chart) ([]ValueSet, error) {
	var all []ValueSet
	for _, f := range c.Files {
		if matches, _ := path.Match("ci/*values.yaml", f.Name); !matches {
			continue
		}
		set, err := ReadValues(f.Name, f.Data)
		if err != nil {
			return nil, err
		}
		all = append(all, set)
	}
	slices.SortFunc(all, func(a, b ValueSet) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// toggle sets one value, and what must be set for it to have an effect.
type toggle struct {
	path    []string
	value   any
	enabled [][]string // the paths of booleans around it, which it sets to true
}

func (t toggle) name() string {
	value, err := json.Marshal(t.value)
	if err != nil {
		return strings.Join(t.path, ".")
	}
	return strings.Join(t.path, ".") + "=" + strings.Trim(string(value), `"`)
}

func (t toggle) apply(values map[string]any) {
	for _, p := range t.enabled {
		setValue(values, p, true)
	}
	setValue(values, t.path, t.value)
}

// setValue sets the value at a path, unless a part of the path is not an object.
func setValue(values map[string]any, path []string, v any) {
	for ; len(path) > 1; path = path[1:] {
		if values[path[0]] == nil {
			values[path[0]] = map[string]any{}
		}
		object, isObject := values[path[0]].(map[string]any)
		if !isObject {
			return
		}
		values = object
	}
	values[path[0]] = v
}

// valueAt returns the value at a path, or nil.
func valueAt(values map[string]any, path []string) any {
	var v any = values
	for _, step := range path {
		object, _ := v.(map[string]any)
		v = object[step]
	}
	return v
}

// defaultsOf returns the default values of a chart and of all its dependencies, also of disabled
// ones.
func defaultsOf(c *helmchart.Chart) map[string]any {
	values, _ := jsonvalue.Clone(c.Values).(map[string]any)
	if values == nil {
		values = map[string]any{}
	}
	for _, d := range dependenciesOf(c) {
		own := defaultsOf(d.chart)
		given, _ := values[d.name].(map[string]any)
		jsonvalue.Merge(own, given)
		values[d.name] = own
	}
	return values
}

// fillers returns the values that fill an empty value, so that conditions on it hold.
func fillers(empty any) []any {
	switch v := empty.(type) {
	case nil:
		return []any{map[string]any{"key": "value"}, "value"}
	case string:
		if v == "" {
			return []any{"value"}
		}
	case map[string]any:
		if len(v) == 0 {
			return []any{map[string]any{"key": "value"}}
		}
	case []any:
		if len(v) == 0 {
			return []any{[]any{"value"}, []any{map[string]any{"name": "value"}}}
		}
	case float64:
		if v == 0 {
			return []any{float64(1)}
		}
	}
	return nil
}

// booleans returns the booleans of a chart and its dependencies with the opposite values.
func (d *deriver) booleans(values map[string]any) []toggle {
	var all []toggle
	used := usedIn(d.templates, d.chart)
	var walk func(object map[string]any, at []string)
	walk = func(object map[string]any, at []string) {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			p := append(slices.Clone(at), key)
			switch v := object[key].(type) {
			case bool:
				if used.has(p) {
					all = append(all, toggle{path: p, value: !v})
				}
			case map[string]any:
				walk(v, p)
			}
		}
	}
	walk(values, nil)
	return d.enable(all, values)
}

// conditions returns changes of values in the conditions of templates that may render more than
// what is seen: the strings that values are compared with, and texts, lists and objects for empty
// values.
func (d *deriver) conditions(values map[string]any) []toggle {
	var all []toggle
	for _, t := range d.templates {
		if len(d.unseen(t)) == 0 {
			continue
		}
		for _, c := range t.compared {
			if v := valueAt(values, c.path); canBecome(v, c.value) {
				all = append(all, c)
			}
		}
		for _, p := range t.required {
			for _, filler := range fillers(valueAt(values, p)) {
				all = append(all, toggle{path: p, value: filler})
			}
		}
	}
	return d.enable(all, values)
}

// enable adds to toggles what must be enabled for them to have an effect, and sorts them.
func (d *deriver) enable(all []toggle, values map[string]any) []toggle {
	conditions := conditionsOf(d.chart, nil)
	for i, t := range all {
		for n := range t.path {
			around := append(slices.Clone(t.path[:n]), "enabled")
			if valueAt(values, around) == false && !slices.Equal(around, t.path) {
				all[i].enabled = append(all[i].enabled, around)
			}
			all[i].enabled = append(all[i].enabled, conditions[strings.Join(t.path[:n], ".")]...)
		}
	}
	slices.SortStableFunc(all, func(a, b toggle) int { return strings.Compare(a.name(), b.name()) })
	return slices.CompactFunc(all, func(a, b toggle) bool { return a.name() == b.name() })
}

// canBecome reports whether a value can be replaced by another one: a string, a number or nothing by a
// string or a number, and a list by a list.
func canBecome(v, other any) bool {
	switch v.(type) {
	case nil:
		return true
	case string, float64, int64, int:
		_, isList := other.([]any)
		return !isList && fmt.Sprint(v) != fmt.Sprint(other)
	case []any:
		_, isList := other.([]any)
		return isList
	}
	return false
}

// conditionsOf returns the paths of the conditions of dependencies, by the paths of their values.
func conditionsOf(c *helmchart.Chart, at []string) map[string][][]string {
	all := map[string][][]string{}
	for _, d := range dependenciesOf(c) {
		own := append(slices.Clone(at), d.name)
		for condition := range strings.SplitSeq(d.condition, ",") {
			if condition = strings.TrimSpace(condition); condition != "" {
				all[strings.Join(own, ".")] = append(all[strings.Join(own, ".")], append(slices.Clone(at), strings.Split(condition, ".")...))
			}
		}
		maps.Copy(all, conditionsOf(d.chart, own))
	}
	return all
}

// dependency is a dependency of a chart under one of its names.
type dependency struct {
	chart     *helmchart.Chart
	name      string // the alias, or the name of the chart
	condition string
}

func dependenciesOf(c *helmchart.Chart) []dependency {
	var all []dependency
	for _, d := range c.Dependencies() {
		listed := false
		for _, entry := range c.Metadata.Dependencies {
			if chart.Satisfies(d, entry) {
				listed = true
				name := entry.Alias
				if name == "" {
					name = entry.Name
				}
				all = append(all, dependency{d, name, entry.Condition})
			}
		}
		if !listed {
			all = append(all, dependency{d, d.Name(), ""})
		}
	}
	return all
}
