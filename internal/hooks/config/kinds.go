package config

import (
	"github.com/operon-dev/operon/internal/finding"
)

// Kinds describes the kinds that API servers serve. Its methods return the reason why a
// binding is invalid, or "" if it is valid or if that is unknown. apiVersion may be "".
type Kinds interface {
	// CannotWatch returns the reason why a binding cannot watch a kind.
	CannotWatch(apiVersion, kind string) string
	// CannotSelect returns the reason why a binding cannot select objects of a kind by a
	// field.
	CannotSelect(apiVersion, kind, field string) string
	// CannotSelectNamespaces returns the reason why a binding cannot select the namespaces
	// of the objects of a kind.
	CannotSelectNamespaces(apiVersion, kind string) string
}

// CheckKinds reports bindings to unknown kinds, and bindings that select by fields or
// namespaces that their kind does not have. text is the source of the configuration. The
// engine accepts such bindings, but retries forever: for an unknown kind it blocks the queue
// main at start-up, and the API server rejects its requests for an unknown field.
func CheckKinds(text []byte, c *Config, known Kinds) []finding.Finding {
	var findings []finding.Finding
	report := func(rule finding.Rule, problem string, p path) {
		if problem == "" {
			return
		}
		line, column := 0, 0
		if src, _, ok := parseSource(text); ok {
			line, column = src.position(p, false)
		}
		findings = append(findings, rule.At("", line, column, "%s: %s", p, problem))
	}
	for i, k := range c.Kubernetes {
		p := path{"kubernetes", i}
		report(ruleUnknownKind, known.CannotWatch(k.APIVersion, k.Kind), p.in("kind"))
		if k.Namespace.isRestricted() {
			report(ruleNoNamespace, known.CannotSelectNamespaces(k.APIVersion, k.Kind), p.in("namespace"))
		}
		if k.FieldSelector == nil {
			continue
		}
		for n, e := range k.FieldSelector.MatchExpressions {
			at := p.in("fieldSelector").in("matchExpressions").in(n).in("field")
			report(ruleUnknownField, known.CannotSelect(k.APIVersion, k.Kind, e.Field), at)
		}
	}
	return findings
}
