package config

import (
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/condition"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"
)

// maxConditions is the maximum number of matchConditions of a webhook.
const maxConditions = 64

// checkConditions reports matchConditions that make the API server reject the webhook
// configuration. The engine does not check them.
func (v *validator) checkConditions(a Admission, p path) {
	all := p.in("matchConditions")
	report := func(p path, format string, args ...any) {
		v.report(p, ruleCondition, format+": the API server rejects it when the operator starts", args...)
	}
	if n := len(a.MatchConditions); n > maxConditions {
		report(all, "%s has %d conditions, but at most %d are allowed", all, n, maxConditions)
	}
	names := map[string]bool{}
	for i, m := range a.MatchConditions {
		at := all.in(i)
		if names[m.Name] {
			report(at.in("name"), "%s: another condition is named %q", at.in("name"), m.Name)
		}
		names[m.Name] = true
		for _, problem := range validation.IsQualifiedName(m.Name) {
			problem, _, _ = strings.Cut(problem, " (e.g.") // omit the example and the regular expression
			report(at.in("name"), "%s is %q: %s", at.in("name"), m.Name, problem)
		}
		at = at.in("expression")
		for _, problem := range condition.Check(m.Expression) {
			line, column := v.positionIn(at, m.Expression, problem)
			v.add(ruleCondition.At("", line, column, "%s: %s: the API server rejects it when the operator starts", at, problem.Message))
		}
	}
}

// positionIn returns the position of a problem inside the text at p. If the YAML style of
// the text makes that position unknown, it returns the position of the text.
func (v *validator) positionIn(p path, text string, problem finding.Finding) (line, column int) {
	n := v.node(p, false)
	if n == nil || problem.Line == 0 {
		return v.position(p, false)
	}
	line, start := n.Line, n.Column-1
	if n.Style == yaml.LiteralStyle {
		line, start = n.Line+problem.Line, 0 // the text starts on the line after the |
	}
	fileLines, textLines := strings.Split(string(v.text), "\n"), strings.Split(text, "\n")
	if line > len(fileLines) || problem.Line > len(textLines) || start > len(fileLines[line-1]) {
		return v.position(p, false)
	}
	offset := strings.Index(fileLines[line-1][start:], textLines[problem.Line-1])
	if offset < 0 {
		return v.position(p, false)
	}
	return line, start + offset + problem.Column
}
