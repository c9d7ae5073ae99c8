package chart

import (
	"github.com/operon-dev/operon/internal/chart/reads"
	"helm.sh/helm/v3/pkg/chart"
)

// data is the data for the templates of a chart and its dependencies.
type data struct {
	byChart map[string]map[string]any // by the path of the chart
	facts   reads.Facts
	scopes  []reads.Scope
}

// The names of facts, which are keys of the data, too.
const (
	valuesFact       = "Values"
	releaseFact      = "Release"
	capabilitiesFact = "Capabilities"
	dependenciesFact = "Dependencies" // the names of the enabled dependencies, by chart
)

// data returns the data for a release with values.
func (s *selection) data(values map[string]any, r Release, k Cluster) (*data, error) {
	coalesced, err := coalesce(s.chart, clone(values), false)
	if err != nil {
		return nil, err
	}
	dependencies := map[string]any{}
	d := &data{map[string]map[string]any{}, reads.Facts{valuesFact: coalesced, releaseFact: release(r), capabilitiesFact: capabilities(k), dependenciesFact: dependencies}, nil}
	d.add(s, s.chart, map[string]any{valuesFact: coalesced}, []string{valuesFact}, dependencies)
	return d, nil
}

// add adds the data of a chart and its dependencies. at is the path of the values of the chart in the
// facts. It returns the data of the chart.
func (d *data) add(s *selection, c *chart.Chart, parent map[string]any, at []string, dependencies map[string]any) map[string]any {
	full, charts, root := c.ChartFullPath(), map[string]any{}, len(at) == 1
	own := map[string]any{
		"Chart": struct {
			chart.Metadata
			IsRoot bool
		}{*c.Metadata, root},
		"Files": s.files[full], releaseFact: d.facts[releaseFact], capabilitiesFact: d.facts[capabilitiesFact],
		valuesFact: parent[valuesFact], "Subcharts": charts, "Template": nil,
	}
	if !root {
		parentValues, _ := parent[valuesFact].(map[string]any)
		values, isObject := parentValues[c.Name()].(map[string]any)
		if !isObject {
			values = map[string]any{}
		}
		own[valuesFact] = values
	}
	names := []any{}
	for _, dependency := range c.Dependencies() {
		name := dependency.Name()
		charts[name] = d.add(s, dependency, own, append(at[:len(at):len(at)], name), dependencies)
		names = append(names, name)
	}
	dependencies[full] = names
	enabled := []string{dependenciesFact, full}
	d.byChart[full] = own
	d.scopes = append(d.scopes, reads.Scope{Name: full, Data: own, Field: map[string]string{"Chart": "Dependencies"}, Template: "Template", Same: "BasePath", Keys: map[string][]string{
		valuesFact: at, releaseFact: {releaseFact}, capabilitiesFact: {capabilitiesFact}, "Chart": enabled, "Subcharts": enabled,
	}})
	return own
}
