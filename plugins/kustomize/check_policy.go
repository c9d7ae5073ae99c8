package kustomize

import (
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/scaffold"
)

// rulePolicyBlocks is the rule of a NetworkPolicy that keeps the API server from calling the webhooks.
const rulePolicyBlocks = "policy-blocks"

// admitsAll has the items of ingress that admit the API server: no selector matches it.
const admitsAll = "- ports:\n  - port: 9443\n    protocol: TCP"

// checkWebhookPolicy warns about the policy that kubebuilder before v4.16 wrote. It admits clients in labelled namespaces
// to port 443. But that is the port of the Service, policies are for the port of the pod, and the API server is in no
// namespace. A policy that config/default does not install blocks nothing.
func checkWebhookPolicy(all lists, p *scaffold.Plan) {
	l := readLists(p, webhookPolicy)
	installed := slices.ContainsFunc(all.items("resources"), func(entry any) bool { return entry == "../network-policy" })
	if l.doc == nil || !installed {
		return
	}
	spec, _ := l.doc.Value["spec"].(map[string]any)
	for i, v := range items(spec["ingress"]) {
		if rule, ok := v.(map[string]any); ok && blocksServer(rule) {
			p.Warn(scaffold.Warning{File: l.name, Line: l.doc.Line([]any{"spec", "ingress", i}), Rule: rulePolicyBlocks, Lines: admitsAll,
				Message: "the API server cannot call the webhooks: it is in no namespace, and calls port 9443 of the pod; replace the items of ingress by these lines"})
			return
		}
	}
}

// blocksServer reports whether a rule of a NetworkPolicy is of the older form.
func blocksServer(rule map[string]any) bool {
	for _, port := range items(rule["ports"]) {
		if m, ok := port.(map[string]any); ok && fmt.Sprint(m["port"]) == "443" {
			return true
		}
	}
	for _, from := range items(rule["from"]) {
		if m, ok := from.(map[string]any); ok && jsonvalue.String(m, "namespaceSelector", "matchLabels", "webhook") == "enabled" {
			return true
		}
	}
	return false
}
