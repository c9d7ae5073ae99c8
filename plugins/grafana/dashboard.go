package grafana

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The types have the part of Grafana's schema of dashboards (schemaVersion 39, Grafana 10.2 and later) that the
// scaffold uses: grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model.

type dashboard struct {
	UID           string      `json:"uid"`
	Title         string      `json:"title"`
	Description   string      `json:"description"`
	Tags          []string    `json:"tags"`
	Timezone      string      `json:"timezone"`
	Editable      bool        `json:"editable"`
	GraphTooltip  int         `json:"graphTooltip"` // 1: one cross hair for all panels
	SchemaVersion int         `json:"schemaVersion"`
	Refresh       string      `json:"refresh"`
	Time          timeRange   `json:"time"`
	Templating    templating  `json:"templating"`
	Annotations   annotations `json:"annotations"`
	Panels        []panel     `json:"panels"`
}

type timeRange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type templating struct {
	List []variable `json:"list"`
}

type annotations struct {
	List []struct{} `json:"list"`
}

type variable struct {
	Name       string  `json:"name"`
	Label      string  `json:"label"`
	Type       string  `json:"type"`
	Query      any     `json:"query"`
	Datasource *source `json:"datasource,omitempty"`
	Definition string  `json:"definition,omitempty"`
	Refresh    int     `json:"refresh,omitempty"` // 2: when the time range changes
	IncludeAll bool    `json:"includeAll,omitempty"`
	Multi      bool    `json:"multi,omitempty"`
	AllValue   string  `json:"allValue,omitempty"`
	Sort       int     `json:"sort,omitempty"` // 1: by name
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type panel struct {
	ID          int          `json:"id"`
	Type        string       `json:"type"`
	Title       string       `json:"title"`
	Description string       `json:"description,omitempty"`
	GridPos     gridPos      `json:"gridPos"`
	Datasource  *source      `json:"datasource,omitempty"`
	Targets     []target     `json:"targets,omitempty"`
	FieldConfig *fieldConfig `json:"fieldConfig,omitempty"`
	Options     *options     `json:"options,omitempty"`
	Collapsed   *bool        `json:"collapsed,omitempty"`
	Panels      *[]panel     `json:"panels,omitempty"` // of a row; empty unless it is collapsed
}

type gridPos struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type target struct {
	RefID        string `json:"refId"`
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat"`
}

type fieldConfig struct {
	Defaults struct {
		Unit   string         `json:"unit"`
		Min    *int           `json:"min,omitempty"`
		Custom map[string]int `json:"custom,omitempty"`
	} `json:"defaults"`
	Overrides []struct{} `json:"overrides"`
}

type options struct {
	Legend struct {
		DisplayMode string   `json:"displayMode"`
		Placement   string   `json:"placement"`
		ShowLegend  bool     `json:"showLegend"`
		Calcs       []string `json:"calcs"`
	} `json:"legend"`
	Tooltip struct {
		Mode string `json:"mode"`
		Sort string `json:"sort"`
	} `json:"tooltip"`
}

// graph is a panel with lines over time.
type graph struct {
	Title, Description string
	Unit               string // of Grafana: short, s, bytes, ops, percentunit, ...
	Lines              []line
}

// line is a query. Legend can have labels, as in {{controller}}.
type line struct{ Expr, Legend string }

// row is a heading with the panels below it.
type row struct {
	Title  string
	Graphs []graph
}

// Panels are this many of the 24 columns wide, and this many units high.
const (
	panelWidth  = 12
	panelHeight = 8
)

var prometheus = source{Type: "prometheus", UID: "${datasource}"}

// selector limits queries to the metrics of the operator's pods that the user selected.
const selector = `job="$job", namespace="$namespace", pod=~"$pod"`

// newDashboard returns a dashboard whose variables select the pods that have a metric.
func newDashboard(uid, title, description, metric string, rows []row) dashboard {
	d := dashboard{
		UID: uid, Title: title, Description: description, Tags: []string{"operator"},
		Timezone: "browser", Editable: true, GraphTooltip: 1, SchemaVersion: 39, Refresh: "30s",
		Time: timeRange{From: "now-1h", To: "now"}, Annotations: annotations{List: []struct{}{}},
	}
	d.Templating.List = []variable{
		{Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus"},
		query("namespace", "Namespace", fmt.Sprintf("label_values(%s, namespace)", metric)),
		query("job", "Job", fmt.Sprintf(`label_values(%s{namespace="$namespace"}, job)`, metric)),
		query("pod", "Pod", fmt.Sprintf(`label_values(%s{namespace="$namespace", job="$job"}, pod)`, metric)),
	}
	pod := &d.Templating.List[3]
	pod.Multi, pod.IncludeAll, pod.AllValue = true, true, ".*"
	y := 0
	for _, r := range rows {
		collapsed := false
		d.Panels = append(d.Panels, panel{ID: len(d.Panels) + 1, Type: "row", Title: r.Title,
			GridPos: gridPos{H: 1, W: 24, Y: y}, Collapsed: &collapsed, Panels: &[]panel{}})
		y++
		for i, g := range r.Graphs {
			p := g.panel()
			p.ID = len(d.Panels) + 1
			p.GridPos = gridPos{H: panelHeight, W: panelWidth, X: i % 2 * panelWidth, Y: y + i/2*panelHeight}
			d.Panels = append(d.Panels, p)
		}
		y += (len(r.Graphs) + 1) / 2 * panelHeight
	}
	return d
}

func query(name, label, definition string) variable {
	return variable{Name: name, Label: label, Type: "query", Datasource: &prometheus, Definition: definition, Refresh: 2, Sort: 1,
		Query: map[string]string{"query": definition, "refId": "variable-" + name}}
}

func (g graph) panel() panel {
	p := panel{Type: "timeseries", Title: g.Title, Description: g.Description, Datasource: &prometheus,
		FieldConfig: &fieldConfig{Overrides: []struct{}{}}, Options: &options{}}
	for i, l := range g.Lines {
		p.Targets = append(p.Targets, target{RefID: string(rune('A' + i)), Expr: l.Expr, LegendFormat: l.Legend})
	}
	zero := 0
	p.FieldConfig.Defaults.Unit, p.FieldConfig.Defaults.Min = g.Unit, &zero
	p.FieldConfig.Defaults.Custom = map[string]int{"fillOpacity": 10, "lineWidth": 1}
	legend := &p.Options.Legend
	legend.DisplayMode, legend.Placement, legend.ShowLegend, legend.Calcs = "list", "bottom", true, []string{}
	p.Options.Tooltip.Mode, p.Options.Tooltip.Sort = "multi", "desc"
	return p
}

// encode returns the dashboard as an indented file.
func (d dashboard) encode() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(d)
	return out.Bytes(), err
}
