package config

import (
	"fmt"

	"github.com/operon-dev/operon/internal/finding"
)

// Kinds describes the kinds that API servers serve.
type Kinds interface {
	// CannotWatch returns why a binding cannot watch a kind. The result is "" if it can
	// or if that is unknown. apiVersion may be "".
	CannotWatch(apiVersion, kind string) string
	// CannotSelect returns why a binding cannot select objects of a kind by a field. The
	// result is "" if it can or if that is unknown.
	CannotSelect(apiVersion, kind, field string) string
	// CannotSelectNamespaces returns why a binding cannot select namespaces for a kind.
	// The result is "" if it can or if that is unknown.
	CannotSelectNamespaces(apiVersion, kind string) string
}

// CheckKinds reports bindings to unknown kinds, and bindings that select by fields or
// namespaces that their kind does not have. text is the source of the configuration. The
// engine accepts all of them: it retries an unknown kind at the start and blocks the
// queue main, and retries a list that the API server rejects.
func CheckKinds(text []byte, c *Config, known Kinds) []finding.Finding {
	var findings []finding.Finding
	find := func(rule, problem string, p path) {
		if problem == "" {
			return
		}
		f := finding.Finding{Rule: rule, Message: fmt.Sprintf("%s: %s", p, problem)}
		if src, failed := read(text); failed == nil {
			f.Line, f.Column = src.place(p, false)
		}
		findings = append(findings, f)
	}
	for i, k := range c.Kubernetes {
		p := path{"kubernetes", i}
		find(ruleUnknown, known.CannotWatch(k.APIVersion, k.Kind), p.in("kind"))
		if k.Namespace.isRestricted() {
			find(ruleNoNamespace, known.CannotSelectNamespaces(k.APIVersion, k.Kind), p.in("namespace"))
		}
		if k.FieldSelector == nil {
			continue
		}
		for n, e := range k.FieldSelector.MatchExpressions {
			find(ruleField, known.CannotSelect(k.APIVersion, k.Kind, e.Field), p.in("fieldSelector").in("matchExpressions").in(n).in("field"))
		}
	}
	return findings
}
