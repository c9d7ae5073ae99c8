package chart

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
)

// selection is a chart with the dependencies that values enable. Many sets of values have the same one.
type selection struct {
	chart     *chart.Chart
	templates []templateFile   // in the order in which Helm parses and executes them
	files     map[string]Files // by the path of the chart
}

// templateFile is a template of a chart or of a dependency.
type templateFile struct {
	name  string // with the path of the chart, as in messages of Helm
	chart string // the path of its chart
	path  string // in the whole chart
	text  string
}

// newSelection selects dependencies.
func newSelection(c *chart.Chart, values map[string]any) (*selection, error) {
	c = withOwnDependencies(c)
	if err := selectDependencies(c, values, ""); err != nil {
		return nil, err
	}
	if err := importValues(c); err != nil {
		return nil, err
	}
	s := &selection{chart: c, files: map[string]Files{}}
	s.collect(c, map[string]int{})
	slices.SortFunc(s.templates, func(a, b templateFile) int {
		// Templates of parent charts come last, so that their definitions win.
		return cmp.Or(strings.Count(b.name, "/")-strings.Count(a.name, "/"), strings.Compare(b.name, a.name))
	})
	return s, nil
}

// collect adds the files of a chart and its dependencies. known has the templates by their names.
func (s *selection) collect(c *chart.Chart, known map[string]int) {
	full := c.ChartFullPath()
	s.files[full] = filesOf(c.Files)
	for _, d := range c.Dependencies() {
		s.collect(d, known)
	}
	library := isLibrary(c)
	for _, t := range c.Templates {
		if library && !strings.HasPrefix(path.Base(t.Name), "_") {
			continue
		}
		name := path.Join(full, t.Name)
		file := templateFile{name, full, pathInChart(s.chart, name), string(t.Data)}
		if i, twice := known[name]; twice {
			s.templates[i] = file
			continue
		}
		known[name] = len(s.templates)
		s.templates = append(s.templates, file)
	}
}

// selectionKey returns a text that is equal for values that select the same dependencies: with the
// values that selectDependencies reads, and with what it refuses.
func selectionKey(c *chart.Chart, values map[string]any) string {
	var key strings.Builder
	add := func(at string) {
		v, found := given(values, at)
		if _, isObject := v.(map[string]any); isObject {
			v = "object"
		}
		content, err := json.Marshal(v)
		_, _ = fmt.Fprintf(&key, "%s=%s %s %v\n", at, content, found, err)
	}
	var walk func(c *chart.Chart, at string)
	walk = func(c *chart.Chart, at string) {
		for _, entry := range c.Metadata.Dependencies {
			for condition := range strings.SplitSeq(strings.TrimSpace(entry.Condition), ",") {
				add(at + condition)
				for global := at; global != "" && strings.HasPrefix(condition, "global."); { // globals of parents apply, too
					global = global[:strings.LastIndex(strings.TrimSuffix(global, "."), ".")+1]
					add(global + condition)
				}
			}
			for _, tag := range entry.Tags {
				add("tags." + tag)
			}
		}
		for _, d := range c.Dependencies() {
			for _, name := range append(aliases(c, d), d.Name()) {
				add(at + name)
				add(at + name + ".global")
				walk(d, at+name+".")
			}
		}
	}
	add("global")
	walk(c, "")
	return key.String()
}

// aliases returns the names under which a chart lists a dependency.
func aliases(c, d *chart.Chart) []string {
	var names []string
	for _, entry := range c.Metadata.Dependencies {
		if entry.Name == d.Name() && entry.Alias != "" {
			names = append(names, entry.Alias)
		}
	}
	return names
}

// given returns the value at a path, and the part of the path that exists.
func given(values map[string]any, at string) (v any, found string) {
	steps := strings.Split(at, ".")
	v = values
	for i, step := range steps {
		object, isObject := v.(map[string]any)
		next, exists := object[step]
		if !isObject || !exists {
			return fmt.Sprintf("%T", v), strings.Join(steps[:i], ".")
		}
		v = next
	}
	return v, at
}
