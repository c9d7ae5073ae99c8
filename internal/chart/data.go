package chart

import "helm.sh/helm/v3/pkg/chart"

// data returns the data for the templates of a chart and its dependencies, by the path of the chart.
func (s *selection) data(values map[string]any, r Release, k Cluster) (map[string]map[string]any, error) {
	coalesced, err := coalesce(s.chart, clone(values), false)
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]any{}
	s.addData(s.chart, true, map[string]any{"Values": coalesced, "Release": release(r), "Capabilities": capabilities(k)}, all)
	return all, nil
}

// addData adds the data of a chart and its dependencies to all. common has what the data of the chart
// begins with. It returns the data of the chart.
func (s *selection) addData(c *chart.Chart, isRoot bool, common map[string]any, all map[string]map[string]any) map[string]any {
	full, charts := c.ChartFullPath(), map[string]any{}
	own := map[string]any{
		"Chart": struct {
			chart.Metadata
			IsRoot bool
		}{*c.Metadata, isRoot},
		"Files": s.files[full], "Release": common["Release"], "Capabilities": common["Capabilities"],
		"Values": common["Values"], "Subcharts": charts, "Template": nil,
	}
	all[full] = own
	below, _ := common["Values"].(map[string]any)
	for _, d := range c.Dependencies() {
		values, isObject := below[d.Name()].(map[string]any)
		if !isObject {
			values = map[string]any{}
		}
		data := map[string]any{"Values": values, "Release": common["Release"], "Capabilities": common["Capabilities"]}
		charts[d.Name()] = s.addData(d, false, data, all)
	}
	return own
}
