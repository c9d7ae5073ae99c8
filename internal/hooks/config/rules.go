package config

import "github.com/operon-dev/operon/internal/finding"

// Names of rules.
const (
	RuleSyntax    = "syntax"
	ruleSchema    = "schema"
	ruleSettings  = "settings"
	ruleKind      = "kind"
	ruleSelector  = "selector"
	ruleJQ        = "jq"
	ruleSnapshots = "snapshots"
	ruleCrontab   = "crontab"
	ruleWebhook   = "webhook"
	ruleStep      = "step"

	ruleVersion      = "legacy-version"
	ruleDocuments    = "second-document"
	RuleDuplicateKey = "key-twice"
	ruleMisread      = "misread"
	ruleDuplicate    = "duplicate-binding"
	ruleUnnamed      = "unnamed-binding"
	ruleNoWait       = "wait-without-queue"
	ruleNoObject     = "nothing-kept"
	ruleSecrets      = "secrets-in-memory"
	ruleNumerous     = "crowd-in-memory"
	ruleNoEffect     = "no-effect"
	ruleNoRules      = "webhook-never-called"
	ruleNeverRun     = "never-run"
	ruleMutating     = "mutating-refused"
	ruleCondition    = "match-condition"
	ruleGroupQueues  = "group-in-queues"
	ruleSameVersion  = "conversion-to-itself"
	ruleUnasked      = "webhook-of-addon"
	ruleUnknown      = "unknown-kind"
	ruleField        = "unknown-field"
	ruleNoNamespace  = "no-namespace"
)

// Rules returns the rules of all findings in this package.
func Rules() []finding.Rule {
	return []finding.Rule{
		{Name: RuleSyntax, Severity: finding.Error, Summary: "neither YAML nor JSON"},
		{Name: ruleSchema, Severity: finding.Error, Summary: "a key, type or value that the engine does not support"},
		{Name: ruleSettings, Severity: finding.Error, Summary: "one of two settings that need each other"},
		{Name: ruleKind, Severity: finding.Error, Summary: "an apiVersion that is not a version"},
		{Name: ruleSelector, Severity: finding.Error, Summary: "a selector that the API server rejects"},
		{Name: ruleJQ, Severity: finding.Error, Summary: "a filter that does not compile"},
		{Name: ruleSnapshots, Severity: finding.Error, Summary: "snapshots of a binding that does not exist, or of several"},
		{Name: ruleCrontab, Severity: finding.Error, Summary: "an invalid crontab"},
		{Name: ruleStep, Severity: finding.Error, Summary: "an order of beforeHelm or a similar binding that addon-operator refuses"},
		{Name: ruleWebhook, Severity: finding.Error, Summary: "a validating webhook that the API server would reject"},
		{Name: ruleVersion, Summary: "no configVersion: the engine reads version v0"},
		{Name: ruleDocuments, Summary: "a second YAML document, which the engine ignores"},
		{Name: RuleDuplicateKey, Summary: "a key that is repeated: the last one counts"},
		{Name: ruleMisread, Summary: "a value that YAML reads differently: the key on is true, 010 is 8"},
		{Name: ruleDuplicate, Summary: "two bindings with the same name"},
		{Name: ruleUnnamed, Summary: "several schedules without names"},
		{Name: ruleNoWait, Summary: "waitForSynchronization: false without a queue, which has no effect"},
		{Name: ruleNoObject, Summary: "neither objects nor filter results are kept"},
		{Name: ruleSecrets, Summary: "all Secrets of the cluster are kept in memory"},
		{Name: ruleNumerous, Summary: "all Pods of the cluster, or a similar number of objects, are kept in memory"},
		{Name: ruleNoEffect, Summary: "a key that the engine does not read"},
		{Name: ruleNoRules, Summary: "a webhook without rules, which is never called"},
		{Name: ruleNeverRun, Summary: "settings with which a hook is never run"},
		{Name: ruleMutating, Summary: "a mutating webhook that the API server rejects when the operator starts"},
		{Name: ruleCondition, Summary: "a matchCondition that the API server rejects when the operator starts"},
		{Name: ruleGroupQueues, Summary: "members of one group that do not wait for each other"},
		{Name: ruleSameVersion, Summary: "a conversion from a version to itself"},
		{Name: ruleUnknown, Summary: "a kind that neither Kubernetes nor a CRD in config/crd/bases defines, or that cannot be watched"},
		{Name: ruleField, Summary: "a field that the API server does not support in field selectors of the kind"},
		{Name: ruleNoNamespace, Summary: "namespaces for a cluster-scoped kind"},
		{Name: ruleUnasked, Summary: "a webhook of a hook of addon-operator, which never calls it"},
	}
}
