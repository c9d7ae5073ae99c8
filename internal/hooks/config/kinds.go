package config

import (
	"fmt"

	"github.com/operon-dev/operon/internal/finding"
)

// Kinds knows what API servers serve.
type Kinds interface {
	// CannotWatch says why a binding cannot watch a kind, as it names it, or "" when
	// it can, or nobody can tell. apiVersion may be "".
	CannotWatch(apiVersion, kind string) string
	// CannotSelect says why a binding cannot select objects of a kind by a field, or
	// "" when it can, or nobody can tell.
	CannotSelect(apiVersion, kind, field string) string
	// CannotSelectNamespaces says why a binding cannot name namespaces for a kind, or "" when it
	// can, or nobody can tell.
	CannotSelectNamespaces(apiVersion, kind string) string
}

// CheckKinds finds the bindings of a configuration, which text says, to kinds that
// are not known, and those that select by fields, or name namespaces, that their kind
// does not have. The engine takes all of them: it looks for the kind when it starts,
// again and again, and what is behind in the queue main waits; and it asks again and
// again for a list that the API server refuses.
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
		if k.Namespace.names() {
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
