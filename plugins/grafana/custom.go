package grafana

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/scaffold"
	"go.yaml.in/yaml/v3"
)

// customConfig is the file with the custom metrics of the project. Its keys are kubebuilder's.
const customConfig = "grafana/custom-metrics/config.yaml"

// customDashboard is the dashboard that operon generates from customConfig.
const customDashboard = "grafana/custom-metrics/custom-metrics-dashboard.json"

// metric is an entry of customConfig.
type metric struct {
	Metric string `yaml:"metric"`
	Type   string `yaml:"type"` // counter, gauge, histogram
	Expr   string `yaml:"expr"` // PromQL; empty: the usual query for the type
	Unit   string `yaml:"unit"` // of Grafana; empty: from the name
}

var metricTypes = []string{"counter", "gauge", "histogram"}

var metricName = lazyregexp.New(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

// readConfig reads the custom metrics. It returns none if there is no file.
func readConfig(p *scaffold.Plan) ([]metric, error) {
	src, err := p.Read(customConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := yamledit.CheckSyntax(customConfig, src); err != nil {
		return nil, err
	}
	var config struct {
		CustomMetrics []yaml.Node `yaml:"customMetrics"`
	}
	if err := yaml.Unmarshal(src, &config); err != nil {
		return nil, fault.Usage("write customMetrics: and a list of metrics below it", "%s: customMetrics is not a list", customConfig)
	}
	var all []metric
	for _, node := range config.CustomMetrics {
		m, err := decodeMetric(node)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(all, func(other metric) bool { return other.Metric == m.Metric && other.Expr == m.Expr }); i >= 0 {
			return nil, fault.Usage("remove one of them, or give them different values of expr", "%s:%d: the metric %s occurs twice", customConfig, node.Line, m.Metric)
		}
		all = append(all, m)
	}
	return all, nil
}

// decodeMetric reads an entry of the list.
func decodeMetric(node yaml.Node) (m metric, err error) {
	wrong := func(hint, format string, args ...any) error {
		return fault.Usage(hint, "%s:%d: "+format, append([]any{customConfig, node.Line}, args...)...)
	}
	if node.Kind != yaml.MappingNode || node.Decode(&m) != nil {
		return m, wrong("write metric: NAME and type: counter", "the entry is not a metric")
	}
	for i := 0; i < len(node.Content); i += 2 {
		if key := node.Content[i].Value; !slices.Contains([]string{"metric", "type", "expr", "unit"}, key) {
			return m, fault.Usage("use metric, type, expr and unit", "%s:%d: unknown key %q", customConfig, node.Content[i].Line, key)
		}
	}
	switch {
	case !metricName().MatchString(m.Metric):
		return m, wrong("write the name as Prometheus has it, such as fleet_frigates_total", "%q is not the name of a metric", m.Metric)
	case !slices.Contains(metricTypes, m.Type):
		return m, wrong("use "+strings.Join(metricTypes, ", "), "the type of %s is %q", m.Metric, m.Type)
	}
	return m, nil
}

// planCustom generates the dashboard of the custom metrics, if there are any.
func planCustom(project string, p *scaffold.Plan) error {
	all, err := readConfig(p)
	if err != nil || len(all) == 0 {
		return err
	}
	var graphs []graph
	for _, m := range all {
		graphs = append(graphs, m.graph())
	}
	title, about := project+" / custom metrics", "The metrics in "+customConfig
	d := newDashboard(uid(project, "custom"), title, about, all[0].sample(), []row{{"Custom metrics", graphs}})
	content, err := d.encode()
	if err != nil {
		return err
	}
	return p.Generate("grafana", customDashboard, content)
}

// offerCustom prints the metrics of the code that the list does not mention, not even in a comment.
func offerCustom(p *scaffold.Plan) error {
	src, err := p.Read(customConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	metrics, err := registered(p)
	if err != nil {
		return err
	}
	var lines []string
	for _, m := range metrics {
		if !strings.Contains(string(src), m.Metric) {
			lines = append(lines, "- metric: "+m.Metric, "  type: "+m.Type)
		}
	}
	if len(lines) > 0 {
		p.Warn(scaffold.Warning{File: customConfig, Rule: "metric-not-listed", Lines: strings.Join(lines, "\n"),
			Message: "the code has metrics that the dashboard does not show; add them below customMetrics, or name them in a comment"})
	}
	return nil
}

// sample returns the name of a series of the metric.
func (m metric) sample() string {
	if m.Type == "histogram" {
		return m.Metric + "_count"
	}
	return m.Metric
}

// graph returns the panel of a metric.
func (m metric) graph() graph {
	g := graph{Title: m.Metric, Unit: m.Unit}
	switch {
	case m.Expr != "":
		g.Lines = []line{{m.Expr, "__auto"}}
	case m.Type == "counter":
		g.Lines = []line{{fmt.Sprintf("sum(rate(%s{%s}[$__rate_interval]))", m.Metric, selector), m.Metric}}
	case m.Type == "histogram":
		for _, l := range quantiles(m.Metric, "pod") {
			g.Lines = append(g.Lines, line{strings.Replace(l.Expr, "(le, pod)", "(le)", 1), strings.TrimSuffix(l.Legend, " {{pod}}")})
		}
	default:
		g.Lines = []line{{fmt.Sprintf("sum(%s{%s})", m.Metric, selector), m.Metric}}
	}
	if g.Unit == "" {
		g.Unit = m.usualUnit()
	}
	return g
}

// usualUnit returns the unit that the name of a metric ends in (prometheus.io/docs/practices/naming).
func (m metric) usualUnit() string {
	name := strings.TrimSuffix(m.Metric, "_total")
	switch {
	case strings.HasSuffix(name, "_bytes") && m.Type == "counter":
		return "Bps"
	case strings.HasSuffix(name, "_bytes"):
		return "bytes"
	case strings.HasSuffix(name, "_seconds") && m.Type != "counter":
		return "s"
	case strings.HasSuffix(name, "_ratio"):
		return "percentunit"
	case m.Type == "counter":
		return "ops"
	}
	return "short"
}
