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

// Rules are all that findings of this package can be about.
func Rules() []finding.Rule {
	return []finding.Rule{
		{Name: RuleSyntax, Severity: finding.Error, Summary: "neither YAML nor JSON"},
		{Name: ruleSchema, Severity: finding.Error, Summary: "a key, a type or a value that the engine does not know"},
		{Name: ruleSettings, Severity: finding.Error, Summary: "one of the two settings without the other"},
		{Name: ruleKind, Severity: finding.Error, Summary: "no version of an API"},
		{Name: ruleSelector, Severity: finding.Error, Summary: "a selector that the API server does not take"},
		{Name: ruleJQ, Severity: finding.Error, Summary: "a filter that does not compile"},
		{Name: ruleSnapshots, Severity: finding.Error, Summary: "snapshots of a binding that is not there, or twice"},
		{Name: ruleCrontab, Severity: finding.Error, Summary: "no time"},
		{Name: ruleStep, Severity: finding.Error, Summary: "an order of beforeHelm and the like that addon-operator does not take"},
		{Name: ruleWebhook, Severity: finding.Error, Summary: "a validating webhook that the API server would refuse"},
		{Name: ruleVersion, Summary: "no configVersion: the engine's first format"},
		{Name: ruleDocuments, Summary: "a second YAML document, which nobody reads"},
		{Name: RuleDuplicateKey, Summary: "a key that is there twice: the last one counts"},
		{Name: ruleMisread, Summary: "what YAML reads as another thing: the key on is true, 010 is 8"},
		{Name: ruleDuplicate, Summary: "two bindings of one name"},
		{Name: ruleUnnamed, Summary: "several schedules without names"},
		{Name: ruleNoWait, Summary: "waitForSynchronization: false without a queue, which is passed over"},
		{Name: ruleNoObject, Summary: "neither objects nor filter results are kept"},
		{Name: ruleSecrets, Summary: "all Secrets of the cluster are kept, whole"},
		{Name: ruleNumerous, Summary: "all Pods of the cluster, or as many others, are kept, whole"},
		{Name: ruleNoEffect, Summary: "a key that the engine does not read"},
		{Name: ruleNoRules, Summary: "a webhook without rules, which is never called"},
		{Name: ruleNeverRun, Summary: "settings by which a hook is never run"},
		{Name: ruleMutating, Summary: "a mutating webhook that the API server refuses when the operator starts"},
		{Name: ruleCondition, Summary: "a matchCondition that the API server refuses when the operator starts"},
		{Name: ruleGroupQueues, Summary: "members of one group that do not wait for each other"},
		{Name: ruleSameVersion, Summary: "a conversion from a version to itself"},
		{Name: ruleUnknown, Summary: "a kind that neither Kubernetes nor a CRD in config/crd/bases has to watch"},
		{Name: ruleField, Summary: "a field that the API server selects no objects of the kind by"},
		{Name: ruleNoNamespace, Summary: "namespaces of objects that live in none"},
		{Name: ruleUnasked, Summary: "a webhook of an addon-operator's hook: it asks none"},
	}
}
