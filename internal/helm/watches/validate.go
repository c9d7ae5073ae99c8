package watches

import (
	"maps"
	"os"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/strvals"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The rules of watches.yaml.
var (
	ruleKey       = finding.Rule{Name: "watch-key", Severity: finding.Error, Summary: "a key of watches.yaml is unknown"}
	ruleValue     = finding.Rule{Name: "watch-value", Severity: finding.Error, Summary: "a value in watches.yaml is missing or invalid"}
	ruleText      = finding.Rule{Name: "watch-text", Severity: finding.Warning, Summary: "helm-operator reads a number or a boolean as another text"}
	ruleDuplicate = finding.Rule{Name: "watch-duplicate", Severity: finding.Error, Summary: "watches.yaml has a kind or a key twice"}
	ruleChart     = finding.Rule{Name: "watch-chart", Severity: finding.Error, Summary: "the folder of a watch has no chart"}
)

// Rules returns the rules of watches.yaml.
func Rules() []finding.Rule {
	return []finding.Rule{ruleKey, ruleValue, ruleText, ruleDuplicate, ruleChart}
}

// keys are the keys of an entry, in the order in which Add writes them.
var keys = []string{
	"group", "version", "kind", "chart", "watchDependentResources", "overrideValues",
	"selector", "reconcilePeriod", "maxConcurrentReconciles", "dryRunOption",
}

// dryRunOptions are how helm-operator renders a chart to find out whether a release has changed.
var dryRunOptions = []string{"none", "client", "server"}

// validator decodes entries and collects findings.
type validator struct {
	isChart  func(folder string) bool
	findings []finding.Finding
}

func (v *validator) report(n *yaml.Node, rule finding.Rule, fix, format string, args ...any) {
	f := rule.At(File, n.Line, n.Column, format, args...)
	f.Fix = fix
	v.findings = append(v.findings, f)
}

// watch decodes an entry.
func (v *validator) watch(item *yaml.Node) Watch {
	w := Watch{Line: item.Line}
	fields := v.fields(item, "", keys)
	text := map[string]*string{
		"group": &w.Group, "version": &w.Version, "kind": &w.Kind, "chart": &w.Chart,
		"reconcilePeriod": &w.ReconcilePeriod, "dryRunOption": &w.DryRunOption,
	}
	for _, key := range keys {
		if field := fields[key]; field != nil && text[key] != nil {
			v.decode(field, key, "a string", text[key])
		}
	}
	for _, key := range []string{"version", "kind", "chart"} {
		if n := fields[key]; n == nil || n.Kind == yaml.ScalarNode && n.Value == "" {
			v.report(item, ruleValue, "add the key "+key, "the watch has no %s", key)
		}
	}
	if n := fields["watchDependentResources"]; n != nil {
		v.decode(n, "watchDependentResources", "true or false", &w.WatchDependentResources)
	}
	n := fields["maxConcurrentReconciles"]
	if n != nil && v.decode(n, "maxConcurrentReconciles", "a positive number", &w.MaxConcurrentReconciles) && w.MaxConcurrentReconciles < 1 {
		v.report(n, ruleValue, "write a positive number", "maxConcurrentReconciles is %d", w.MaxConcurrentReconciles)
	}
	if n := fields["reconcilePeriod"]; n != nil {
		if d, err := time.ParseDuration(w.ReconcilePeriod); w.ReconcilePeriod != "" && (err != nil || d < 0) {
			v.report(n, ruleValue, "write a duration such as 1m or 90s", "reconcilePeriod is %q", w.ReconcilePeriod)
		}
	}
	if n := fields["dryRunOption"]; n != nil && w.DryRunOption != "" && !slices.Contains(dryRunOptions, w.DryRunOption) {
		v.report(n, ruleValue, "valid values: "+strings.Join(dryRunOptions, ", "), "dryRunOption is %q", w.DryRunOption)
	}
	v.overrides(fields["overrideValues"], &w)
	v.selector(fields["selector"], &w)
	v.chart(fields["chart"], &w)
	return w
}

// fields returns the values of a mapping by their keys, which must be among known.
func (v *validator) fields(m *yaml.Node, within string, known []string) map[string]*yaml.Node {
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key := m.Content[i]
		switch {
		case !slices.Contains(known, key.Value):
			fix := "valid keys: " + strings.Join(known, ", ")
			if near := fault.Nearest(key.Value, known); near != "" {
				fix = "did you mean " + near + "?"
			}
			v.report(key, ruleKey, fix, "unknown key %s%s", within, key.Value)
		case fields[key.Value] != nil:
			v.report(key, ruleDuplicate, "keep one of the two", "the key %s%s occurs twice", within, key.Value)
		default:
			fields[key.Value] = m.Content[i+1]
		}
	}
	return fields
}

// decode decodes a value. It reports a value of another type.
func (v *validator) decode(n *yaml.Node, key, want string, into any) bool {
	if _, text := into.(*string); text && (n.Kind != yaml.ScalarNode || n.Tag != "!!str") {
		v.report(n, ruleValue, "write "+want+", in quotes if necessary", "%s is not %s", key, want)
		return false
	}
	quoted := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
	if _, text := into.(*string); !text && quoted || n.Decode(into) != nil { // package yaml decodes "yes" to a boolean
		v.report(n, ruleValue, "write "+want, "%s is not %s", key, want)
		return false
	}
	return true
}

// overrides decodes overrideValues. Each value is a template, after references to environment
// variables are replaced.
func (v *validator) overrides(n *yaml.Node, w *Watch) {
	if n == nil || n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		v.report(n, ruleValue, "write lines such as image.tag: $TAG", "overrideValues is not a mapping")
		return
	}
	w.OverrideValues = map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i].Value, n.Content[i+1]
		text, ok := v.converted(value, "overrideValues."+name)
		if !ok {
			continue
		}
		if _, err := template.New(name).Funcs(sprig.TxtFuncMap()).Parse(text); err != nil {
			v.report(value, ruleValue, "correct the template", "overrideValues.%s: %s", name, strings.TrimPrefix(err.Error(), "template: "))
		}
		if _, err := parseOverride(name, text); err != nil {
			v.report(n.Content[i], ruleValue, "write the path of a value, such as image.tag", "overrideValues: %q does not name a value: %v", name, err)
		}
		w.OverrideValues[name] = text
	}
}

// depends reports whether a value of overrideValues depends on the environment of the operator.
func depends(value string) bool { return strings.Contains(value, "$") || strings.Contains(value, "{{") }

// parseOverride returns the values that an entry of overrideValues sets, as helm-operator reads it.
// Where they depend on the environment of the operator, they have another text.
func parseOverride(name, value string) (map[string]any, error) {
	if depends(value) {
		value = "value"
	}
	return strvals.Parse(name + "=" + value)
}

// Overrides returns the values that the operator sets in each release, as far as they do not depend
// on its environment. texts is as for Expand.
func (w Watch) Overrides(texts bool) map[string]any {
	values, parse := map[string]any{}, strvals.ParseInto
	if texts {
		parse = strvals.ParseIntoString
	}
	for _, name := range slices.Sorted(maps.Keys(w.OverrideValues)) {
		if value := w.OverrideValues[name]; !depends(value) {
			_ = parse(name+"="+value, values) // Validate reports invalid names
		}
	}
	return values
}

// Expand returns the values that the operator sets in each release, with its environment. The image
// helm-operator sets texts; otherwise, a value such as 2 or true is a number or a boolean.
func (w Watch) Expand(getenv func(string) string, texts bool) (map[string]any, error) {
	functions, parse := sprig.TxtFuncMap(), strvals.ParseInto
	functions["env"], functions["expandenv"] = getenv, func(s string) string { return os.Expand(s, getenv) }
	if texts {
		parse = strvals.ParseIntoString
	}
	values := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(w.OverrideValues)) {
		var value strings.Builder
		t, err := template.New(name).Funcs(functions).Parse(os.Expand(w.OverrideValues[name], getenv))
		if err == nil {
			err = t.Execute(&value, nil)
		}
		if err == nil {
			err = parse(name+"="+value.String(), values)
		}
		if err != nil {
			return nil, fault.Usage("correct the template, or set the variables that it reads", "%s:%d: overrideValues.%s: %s", File, w.Line, name, strings.TrimPrefix(err.Error(), "template: "))
		}
	}
	return values, nil
}

// selector decodes the label selector.
func (v *validator) selector(n *yaml.Node, w *Watch) {
	if n == nil || n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		v.report(n, ruleValue, "write matchLabels or matchExpressions below it", "selector is not a mapping")
		return
	}
	before := len(v.findings)
	parts := v.fields(n, "selector.", []string{"matchLabels", "matchExpressions"})
	w.Selector = &metav1.LabelSelector{MatchLabels: v.labels(parts["matchLabels"])}
	if list := parts["matchExpressions"]; list != nil {
		for _, item := range list.Content {
			w.Selector.MatchExpressions = append(w.Selector.MatchExpressions, v.requirement(item))
		}
	}
	if _, err := metav1.LabelSelectorAsSelector(w.Selector); err != nil && len(v.findings) == before {
		v.report(n, ruleValue, "write a label selector, as in a Deployment", "selector: %v", err)
	}
}

// labels decodes matchLabels.
func (v *validator) labels(n *yaml.Node) map[string]string {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		v.report(n, ruleValue, "write lines such as fleet: west", "selector.matchLabels is not a mapping")
		return nil
	}
	labels := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		labels[name], _ = v.converted(n.Content[i+1], "selector.matchLabels."+name)
	}
	return labels
}

// requirement decodes an item of matchExpressions.
func (v *validator) requirement(item *yaml.Node) metav1.LabelSelectorRequirement {
	const within = "selector.matchExpressions."
	fields := v.fields(item, within, []string{"key", "operator", "values"})
	r := metav1.LabelSelectorRequirement{
		Key:      v.text(fields["key"], within+"key"),
		Operator: metav1.LabelSelectorOperator(v.text(fields["operator"], within+"operator")),
	}
	if list := fields["values"]; list != nil {
		for _, n := range list.Content {
			text, _ := v.converted(n, within+"values")
			r.Values = append(r.Values, text)
		}
	}
	return r
}

// text decodes a string. A missing one is empty.
func (v *validator) text(n *yaml.Node, key string) string {
	text := ""
	if n != nil {
		v.decode(n, key, "a string", &text)
	}
	return text
}

// chart validates the folder of the chart.
func (v *validator) chart(n *yaml.Node, w *Watch) {
	if n == nil || w.Chart == "" {
		return
	}
	folder, inside := chartFolder(w.Chart)
	if !inside {
		v.report(n, ruleChart, "move the chart into helm-charts, and write its path relative to the project", "the chart %s is outside of the project", w.Chart)
		return
	}
	w.Chart = folder
	if !v.isChart(folder) {
		v.report(n, ruleChart, "restore the chart from version control, or correct the path", "%s has no Chart.yaml", folder)
	}
}
