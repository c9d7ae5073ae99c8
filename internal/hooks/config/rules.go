package config

import "github.com/operon-dev/operon/internal/finding"

// The errors.
var (
	RuleSyntax    = finding.Rule{Name: "syntax", Severity: finding.Error, Summary: "neither YAML nor JSON"}
	ruleSchema    = finding.Rule{Name: "schema", Severity: finding.Error, Summary: "a key, type or value that the engine does not support"}
	ruleSettings  = finding.Rule{Name: "settings", Severity: finding.Error, Summary: "executionMinInterval without executionBurst, or the reverse"}
	ruleKind      = finding.Rule{Name: "kind", Severity: finding.Error, Summary: "an apiVersion that is not a version"}
	ruleSelector  = finding.Rule{Name: "selector", Severity: finding.Error, Summary: "an invalid label selector or field selector"}
	ruleJQ        = finding.Rule{Name: "jq", Severity: finding.Error, Summary: "a filter that does not compile or does not end"}
	ruleSnapshots = finding.Rule{Name: "snapshots", Severity: finding.Error, Summary: "snapshots of a binding that does not exist, or whose name is ambiguous"}
	ruleCrontab   = finding.Rule{Name: "crontab", Severity: finding.Error, Summary: "an invalid crontab"}
	ruleStep      = finding.Rule{Name: "step", Severity: finding.Error, Summary: "an order of beforeHelm or another step that addon-operator rejects"}
	ruleWebhook   = finding.Rule{Name: "webhook", Severity: finding.Error, Summary: "a validating webhook that the API server would reject"}
)

// The warnings.
var (
	ruleVersion      = finding.Rule{Name: "legacy-version", Summary: "no configVersion: the engine reads version v0"}
	ruleDocuments    = finding.Rule{Name: "second-document", Summary: "a second YAML document, which the engine ignores"}
	RuleDuplicateKey = finding.Rule{Name: "key-twice", Summary: "a duplicate key: the last one wins"}
	ruleMisread      = finding.Rule{Name: "misread", Summary: "a value that YAML reads differently than it looks: on is true, 010 is 8"}
	ruleDuplicate    = finding.Rule{Name: "duplicate-binding", Summary: "two bindings with the same name"}
	ruleUnnamed      = finding.Rule{Name: "unnamed-binding", Summary: "several schedules without names"}
	ruleNoWait       = finding.Rule{Name: "wait-without-queue", Summary: "waitForSynchronization: false without a queue, which has no effect"}
	ruleNothingKept  = finding.Rule{Name: "nothing-kept", Summary: "a binding that keeps neither objects nor filter results"}
	ruleSecrets      = finding.Rule{Name: "secrets-in-memory", Summary: "all Secrets of the cluster are kept in memory"}
	ruleNumerous     = finding.Rule{Name: "crowd-in-memory", Summary: "all Pods of the cluster, or of another numerous kind, are kept in memory"}
	ruleNoEffect     = finding.Rule{Name: "no-effect", Summary: "a key that the engine does not read"}
	ruleNoRules      = finding.Rule{Name: "webhook-never-called", Summary: "a webhook without rules, which is never called"}
	ruleNeverRun     = finding.Rule{Name: "never-run", Summary: "settings that prevent the hook from running"}
	ruleMutating     = finding.Rule{Name: "mutating-refused", Summary: "a mutating webhook that the API server rejects when the operator starts"}
	ruleCondition    = finding.Rule{Name: "match-condition", Summary: "a matchCondition that the API server rejects when the operator starts"}
	ruleGroupQueues  = finding.Rule{Name: "group-in-queues", Summary: "bindings of one group in different queues"}
	ruleSameVersion  = finding.Rule{Name: "conversion-to-itself", Summary: "a conversion from a version to itself"}
	ruleUnknownKind  = finding.Rule{Name: "unknown-kind", Summary: "a kind that neither Kubernetes nor a CRD in config/crd/bases defines, or that cannot be watched"}
	ruleUnknownField = finding.Rule{Name: "unknown-field", Summary: "a field that the API server does not support in field selectors of the kind"}
	ruleNoNamespace  = finding.Rule{Name: "no-namespace", Summary: "a namespace selector for a cluster-scoped kind"}
	ruleAddonWebhook = finding.Rule{Name: "webhook-of-addon", Summary: "a webhook of an addon-operator hook, which is never called"}
)

// Rules returns the rules of this package, errors first.
func Rules() []finding.Rule {
	return []finding.Rule{
		RuleSyntax, ruleSchema, ruleSettings, ruleKind, ruleSelector, ruleJQ, ruleSnapshots, ruleCrontab, ruleStep,
		ruleWebhook, ruleVersion, ruleDocuments, RuleDuplicateKey, ruleMisread, ruleDuplicate, ruleUnnamed,
		ruleNoWait, ruleNothingKept, ruleSecrets, ruleNumerous, ruleNoEffect, ruleNoRules, ruleNeverRun, ruleMutating,
		ruleCondition, ruleGroupQueues, ruleSameVersion, ruleUnknownKind, ruleUnknownField, ruleNoNamespace,
		ruleAddonWebhook,
	}
}
