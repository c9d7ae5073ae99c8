package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	gojson "github.com/goccy/go-json"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
)

// metric is the encoded form of Metric.
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

// ParseMetrics parses a metrics file, a stream of JSON objects. hook is the name of the hook.
// The result omits lines that the engine ignores. If a finding is an error, the result is
// empty, because the engine rejects the entire file.
func ParseMetrics(text []byte, hook string) ([]Metric, []finding.Finding) {
	r := &report{}
	docs, actions := jsonDocuments(text), map[string]string{}
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
			if d.at.line == 0 { // encoding/json cannot parse it
				d.at.line = nextLine(docs, text)
			}
			_, message := streamError[metric](text, i, err)
			r.add(d.at, ruleMetricSyntax, "%s", message)
			break
		}
		r.unknownKeys(d, metricKeys, ruleMetricKey)
		m, ok := r.metric(line, d, hook)
		if !ok {
			continue
		}
		if other := actions[m.Name]; m.Action != "expire" && other != "" && other != m.Action {
			r.add(d.at, ruleMetricDropped, "the engine drops %s of %s, because an earlier line uses %s", m.Action, m.Name, other)
		} else if m.Action != "expire" {
			actions[m.Name] = m.Action
		}
		metrics = append(metrics, m)
	}
	if finding.HasErrors(r.findings) {
		metrics = nil
	}
	return metrics, finding.Sort(r.findings)
}

// metric expands set and add, and validates the result. ok is false if the engine ignores the
// line.
func (r *report) metric(m metric, d document, hook string) (out Metric, ok bool) {
	out = Metric{Line: d.at.line, Name: m.Name, Action: m.Action, Value: m.Value, Labels: m.Labels, Group: m.Group, Buckets: m.Buckets}
	switch {
	case m.Set != nil && m.Add != nil:
		r.add(d.key("add"), ruleMetricDropped, "the engine ignores set and add in one line")
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
			r.add(d.at, ruleMetricDropped, "the line needs action, set or add; the engine logs an error and ignores it")
		} else {
			r.add(d.value("action"), ruleMetricDropped, "action is %q; it must be one of %s; the engine logs an error and ignores the line%s",
				out.Action, strings.Join(metricActions, ", "), fault.DidYouMean(out.Action, metricActions))
		}
		return out, false
	}
	if out.Name == "" && out.Action != "expire" {
		r.add(d.key("name"), ruleMetric, "%s lacks name", out.Action)
	}
	switch {
	case out.Action != "expire" && out.Value == nil:
		r.add(d.key("value"), ruleMetric, "%s of %s lacks value", out.Action, orUnnamed(out.Name))
	case out.Action == "observe" && out.Buckets == nil:
		r.add(d.key("buckets"), ruleMetric, "observe of %s lacks buckets", orUnnamed(out.Name))
	case out.Action == "add" || out.Action == "observe":
		r.add(d.at, ruleMetricCounter, "%s does not accumulate: each run that writes to its group, %s, resets it; count in the hook and use set",
			orUnnamed(out.Name), orHookName(m.Group))
	case out.Action == "set" && len(m.Buckets) > 0:
		r.add(d.key("buckets"), ruleMetricNoEffect, "buckets has no effect on %s", out.Action)
	}
	return out, true
}

// orUnnamed returns the name of a metric for messages.
func orUnnamed(name string) string {
	if name == "" {
		return "a metric without a name"
	}
	return name
}

// orHookName returns a group for messages. The default group is the name of the hook.
func orHookName(group string) string {
	if group == "" {
		return "the name of the hook"
	}
	return group
}

// decodeOne decodes a value. As in the engine, a panic of the decoder is an error.
func decodeOne(decode func(any) error, into any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return decode(into)
}

// nextLine returns the line after the last valid document.
func nextLine(docs []document, text []byte) int {
	if len(docs) == 0 {
		return 1
	}
	line := docs[len(docs)-1].at.line + 1
	return min(line, bytes.Count(text, []byte("\n"))+1)
}
