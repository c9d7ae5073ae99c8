package watches

import (
	"bytes"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"go.yaml.in/yaml/v3"
)

// marker is the comment above which new entries go.
const marker = "+kubebuilder:scaffold:watch"

// Add adds an entry for a kind: above the scaffold comment, or else at the end. Other lines stay as
// they are. A kind that has an entry keeps it.
func Add(src []byte, w Watch) ([]byte, error) {
	items, err := entries(src)
	if err != nil {
		return nil, err
	}
	before, _, err := Validate(src, func(string) bool { return true })
	if err != nil || slices.ContainsFunc(before, w.SameKind) {
		return src, err
	}
	lines, err := formatEntry(w)
	if err != nil {
		return nil, err
	}
	out := insert(src, items, lines)
	after, _, err := Validate(out, func(string) bool { return true })
	if err != nil || !slices.EqualFunc(after[:max(len(after)-1, 0)], before, Watch.SameKind) || !after[len(after)-1].SameKind(w) {
		return nil, fault.Usage("add the entry by hand, then repeat the command:\n"+lines, "%s: cannot add the watch of %s", File, w.Kind)
	}
	return out, nil
}

// insert adds the lines of an entry after the other entries.
func insert(src []byte, items []*yaml.Node, lines string) []byte {
	end := edit.LineEnd(src)
	if len(items) > 0 && items[0].Column > 3 { // an indented list
		indent := strings.Repeat(" ", items[0].Column-3)
		lines = indent + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n"+indent) + "\n"
	}
	lines = strings.ReplaceAll(lines, "\n", end)
	var out, rest bytes.Buffer
	for line := range bytes.Lines(src) {
		text := strings.TrimSpace(string(line))
		comment, isComment := strings.CutPrefix(text, "#")
		switch {
		case len(items) == 0 && text == "[]":
		case rest.Len() > 0 || isComment && strings.TrimSpace(comment) == marker:
			rest.Write(line)
		default:
			out.Write(line)
		}
	}
	if out.Len() > 0 && !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
		out.WriteString(end)
	}
	out.WriteString(lines)
	out.Write(rest.Bytes())
	return out.Bytes()
}

// formatEntry returns an entry as the lines of a list item.
func formatEntry(w Watch) (string, error) {
	var node yaml.Node
	node.Kind = yaml.MappingNode
	for i, value := range []any{
		w.Group, w.Version, w.Kind, w.Chart, w.WatchDependentResources, w.OverrideValues,
		selectorOf(w), w.ReconcilePeriod, w.MaxConcurrentReconciles, w.DryRunOption,
	} {
		var v yaml.Node
		if err := v.Encode(value); err != nil {
			return "", err
		}
		empty := v.Kind == yaml.ScalarNode && (v.Tag == "!!null" || v.Value == "" || v.Value == "0") ||
			v.Kind == yaml.MappingNode && len(v.Content) == 0
		if i > 3 && empty {
			continue
		}
		if s, text := value.(string); text {
			v = yaml.Node{Kind: yaml.ScalarNode, Value: s, Tag: "!!str"}
			if strings.HasPrefix(yamledit.Scalar(s), `"`) {
				v.Style = yaml.DoubleQuotedStyle
			}
		}
		node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: keys[i], Tag: "!!str"}, &v)
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	err := enc.Encode([]*yaml.Node{&node})
	return out.String(), err
}

// selectorOf returns the selector as plain data with its JSON keys, or nil.
func selectorOf(w Watch) map[string]any {
	if w.Selector == nil {
		return nil
	}
	selector := map[string]any{}
	if len(w.Selector.MatchLabels) > 0 {
		selector["matchLabels"] = w.Selector.MatchLabels
	}
	var expressions []any
	for _, e := range w.Selector.MatchExpressions {
		expression := map[string]any{"key": e.Key, "operator": string(e.Operator)}
		if len(e.Values) > 0 {
			expression["values"] = e.Values
		}
		expressions = append(expressions, expression)
	}
	if len(expressions) > 0 {
		selector["matchExpressions"] = expressions
	}
	return selector
}
