package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	gojson "github.com/goccy/go-json"
	"github.com/operon-dev/operon/internal/finding"
)

// metric is what a line of a metrics file is decoded into.
type metric struct {
	Name    string            `json:"name"`
	Add     *float64          `json:"add"`
	Set     *float64          `json:"set"`
	Value   *float64          `json:"value"`
	Buckets []float64         `json:"buckets"`
	Labels  map[string]string `json:"labels"`
	Group   string            `json:"group"`
	Action  string            `json:"action"`
}

var (
	metricKeys    = []string{"name", "add", "set", "value", "buckets", "labels", "group", "action"}
	metricActions = []string{"add", "set", "observe", "expire"}
)

// ParseMetrics reads a file of metrics, a stream of JSON objects, that the hook of
// a name wrote. There are none when a finding refuses, for then the run of the
// hook has failed. What the engine drops with a line in its log is left out.
func ParseMetrics(text []byte, hook string) ([]Metric, []finding.Finding) {
	j := &judge{}
	docs, kinds := jsonDocuments(text), map[string]string{}
	var metrics []Metric
	dec := gojson.NewDecoder(bytes.NewReader(text))
	for i := 0; ; i++ {
		var line metric
		d := documentAt(docs, i)
		err := decodeOne(dec.Decode, &line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if d.at.line == 0 { // it is no JSON by anyone's letter
				d.at.line = lastLine(docs, text)
			}
			_, message := streamFault[metric](text, i, err)
			j.refuse(d.at, ruleMetricSyntax, "%s", message)
			break
		}
		j.unknown(d, metricKeys, ruleMetricKey)
		m, ok := j.metric(line, d, hook)
		if !ok {
			continue
		}
		if other := kinds[m.Name]; m.Action != "expire" && other != "" && other != m.Action {
			j.lint(d.at, ruleMetricDropped, "%s of %s is dropped: the metric began with %s, and stays what it is", m.Action, m.Name, other)
		} else if m.Action != "expire" {
			kinds[m.Name] = m.Action
		}
		metrics = append(metrics, m)
	}
	findings, refused := j.sorted()
	if refused {
		metrics = nil
	}
	return metrics, findings
}

// metric writes shortcuts out, and judges what comes of it. It is not ok when the
// engine passes over the line.
func (j *judge) metric(m metric, d document, hook string) (out Metric, ok bool) {
	out = Metric{Line: d.at.line, Name: m.Name, Action: m.Action, Value: m.Value, Labels: m.Labels, Group: m.Group, Buckets: m.Buckets}
	switch {
	case m.Set != nil && m.Add != nil:
		j.lint(d.key("add"), ruleMetricDropped, "set and add together are no action, and neither is taken")
	case m.Set != nil:
		out.Action, out.Value = "set", m.Set
	case m.Add != nil:
		out.Action, out.Value = "add", m.Add
	}
	if out.Group == "" {
		out.Group = hook
	}
	if !slices.Contains(metricActions, out.Action) {
		if out.Action == "" {
			j.lint(d.at, ruleMetricDropped, "has none of action, set and add: the engine passes over it with a line in its log")
		} else {
			j.lint(d.value("action"), ruleMetricDropped, "action is %q, and none of %s: the engine passes over it with a line in its log%s",
				out.Action, strings.Join(metricActions, ", "), meant(out.Action, metricActions))
		}
		return out, false
	}
	if out.Name == "" && out.Action != "expire" {
		j.refuse(d.key("name"), ruleMetric, "%s lacks name", out.Action)
	}
	switch {
	case out.Action != "expire" && out.Value == nil:
		j.refuse(d.key("value"), ruleMetric, "%s of %s lacks value", out.Action, orUnnamed(out.Name))
	case out.Action == "observe" && out.Buckets == nil:
		j.refuse(d.key("buckets"), ruleMetric, "observe of %s lacks buckets", orUnnamed(out.Name))
	case out.Action == "add" || out.Action == "observe":
		j.lint(d.at, ruleMetricCounter, "%s does not grow: each run of the hook that writes to its group, %s, begins it anew: count in the hook, and set",
			orUnnamed(out.Name), orOwn(m.Group))
	case out.Action == "set" && len(m.Buckets) > 0:
		j.lint(d.key("buckets"), ruleMetricNoEffect, "buckets have no effect on %s", out.Action)
	}
	return out, true
}

func orUnnamed(name string) string {
	if name == "" {
		return "a metric without name"
	}
	return name
}

func orOwn(group string) string {
	if group == "" {
		return "that of the hook"
	}
	return group
}

// decodeOne decodes a value, and takes it for an error when the decoder gives up
// altogether, as the engine then does.
func decodeOne(decode func(any) error, into any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return decode(into)
}

// lastLine is the line behind the last document that could be read.
func lastLine(docs []document, text []byte) int {
	if len(docs) == 0 {
		return 1
	}
	line := docs[len(docs)-1].at.line + 1
	return min(line, bytes.Count(text, []byte("\n"))+1)
}
