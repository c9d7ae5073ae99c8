package config

import (
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/condition"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"
)

// maxConditions is the number of matchConditions that an API server accepts.
const maxConditions = 64

// lintConditions reports matchConditions for which the API server rejects the webhook
// configuration. The engine does not check them.
func (j *validator) lintConditions(a Admission, p path) {
	all := p.in("matchConditions")
	lint := func(p path, format string, args ...any) {
		j.lint(p, ruleCondition, format+": the API server rejects it when the operator starts", args...)
	}
	if n := len(a.MatchConditions); n > maxConditions {
		lint(all, "%s has %d conditions, but at most %d are allowed", all, n, maxConditions)
	}
	names := map[string]bool{}
	for i, m := range a.MatchConditions {
		at := all.in(i)
		if names[m.Name] {
			lint(at.in("name"), "%s: there is another condition %q", at.in("name"), m.Name)
		}
		names[m.Name] = true
		for _, problem := range validation.IsQualifiedName(m.Name) {
			problem, _, _ = strings.Cut(problem, " (e.g.") // cut the example and the regular expression
			lint(at.in("name"), "%s is %q: %s", at.in("name"), m.Name, problem)
		}
		at = at.in("expression")
		for _, problem := range condition.Check(m.Expression) {
			f := finding.Finding{Rule: ruleCondition, Message: at.String() + ": " + problem.Message + ": the API server rejects it when the operator starts"}
			f.Line, f.Column = j.within(at, m.Expression, problem)
			j.add(f, at, false)
		}
	}
}

// within returns the position of a problem inside the text at p. If the YAML style of the
// text makes that position unknown, it returns the position of the text.
func (j *validator) within(p path, text string, problem condition.Problem) (line, column int) {
	n := j.node(p, false)
	if n == nil || problem.Line == 0 {
		return 0, 0
	}
	line, from := n.Line, n.Column-1
	if n.Style == yaml.LiteralStyle {
		line, from = n.Line+problem.Line, 0 // the text starts on the line after the |
	}
	written, said := strings.Split(string(j.text), "\n"), strings.Split(text, "\n")
	if line > len(written) || problem.Line > len(said) || from > len(written[line-1]) {
		return 0, 0
	}
	at := strings.Index(written[line-1][from:], said[problem.Line-1])
	if at < 0 {
		return 0, 0
	}
	return line, from + at + problem.Column
}
