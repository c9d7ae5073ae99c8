package chart

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
)

// selection is a chart with the dependencies that values enable.
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
