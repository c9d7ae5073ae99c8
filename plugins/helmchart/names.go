package helmchart

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// names replaces the names of the chart's objects, and their namespace, where other objects refer to them.
type names struct {
	chart     string // starts the names of the partials
	namespace string
	prefix    string // of the names of objects, from kustomize; may be empty
	account   string // the name of the manager's service account

	known *regexp.Regexp // a name, alone or with the namespace; nil without a prefix
}

func (b *build) names(chart string) names {
	n := names{chart: chart, namespace: b.namespace, prefix: b.prefix}
	for _, o := range b.objects {
		if groupOf(o) == managerGroup {
			n.account = valueAt(o.root, "spec", "template", "spec", "serviceAccountName")
		}
	}
	if !slices.ContainsFunc(b.objects, func(o object) bool { return o.GetKind() == "ServiceAccount" && o.GetName() == n.account }) {
		n.account = "" // it is not one of the chart
	}
	var quoted []string
	for _, o := range b.objects {
		if o.GetKind() != "CustomResourceDefinition" && n.prefix != "" && strings.HasPrefix(o.GetName(), n.prefix) {
			quoted = append(quoted, regexp.QuoteMeta(o.GetName()))
		}
	}
	if len(quoted) > 0 {
		slices.Sort(quoted)
		slices.Reverse(quoted) // the longest of several with the same start
		before, after := "()", "()"
		if n.namespace != "" {
			before, after = "("+regexp.QuoteMeta(n.namespace)+"/)?", `(\.`+regexp.QuoteMeta(n.namespace)+")?"
		}
		object := strings.Join(slices.Compact(quoted), "|")
		n.known = regexp.MustCompile(`(^|[^a-z0-9.-])` + before + "(" + object + ")" + after + `($|[^a-z0-9-])`)
	}
	return n
}

// nameOfNamespace is the label of each namespace that has its name.
const nameOfNamespace = "kubernetes.io/metadata.name"

// replace marks the names in an object. The schemas of CRDs have no names.
func (n names) replace(o object, t *text) {
	if o.GetKind() == "CustomResourceDefinition" {
		n.in(at(o.root, "metadata", "annotations"), t)
		n.in(at(o.root, "spec", "conversion"), t)
		return
	}
	n.in(o.root, t)
}

// in marks the names in a node.
func (n names) in(node *yaml.Node, t *text) {
	if node == nil {
		return
	}
	if valueAt(node, "kind") == "ServiceAccount" {
		for _, name := range []*yaml.Node{at(node, "name"), at(node, "metadata", "name")} {
			n.asAccount(name, t)
		}
	}
	n.asAccount(at(node, "serviceAccountName"), t)
	for i, child := range node.Content {
		key := ""
		if node.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			key = node.Content[i-1].Value
		}
		switch {
		case child.Kind != yaml.ScalarNode:
			n.in(child, t)
		case (key == "namespace" || key == nameOfNamespace) && child.Value == n.namespace && n.namespace != "":
			child.Value, child.Style = t.action(".Release.Namespace | quote"), 0 // it can be a number
		case n.known != nil:
			child.Value = n.inText(n.inText(child.Value, t), t) // the first call can miss every second one of a list
		}
	}
}

// asAccount marks the name of the manager's service account.
func (n names) asAccount(name *yaml.Node, t *text) {
	if name != nil && n.account != "" && name.Value == n.account {
		name.Value = t.action(`include "%s.serviceAccountName" .`, n.chart)
	}
}

// inText marks the names in a text.
func (n names) inText(s string, t *text) string {
	if !strings.Contains(s, n.prefix) {
		return s
	}
	return replaceMatches(n.known, s, func(m []string) string {
		before, after := m[2], m[4]
		if before != "" {
			before = t.action(".Release.Namespace") + "/"
		}
		if after != "" {
			after = "." + t.action(".Release.Namespace")
		}
		return m[1] + before + n.fullname(m[3], t) + after + m[5]
	})
}

// fullname marks the prefix of a name.
func (n names) fullname(name string, t *text) string {
	start := strings.TrimSuffix(n.prefix, "-")
	return t.action(`include "%s.fullname" .`, n.chart) + strings.TrimPrefix(name, start)
}
