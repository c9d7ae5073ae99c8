package config

// Rule is what findings of one name are about.
type Rule struct {
	Name    string
	Refuses bool // the engine does not start
	About   string
}

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

	ruleVersion     = "legacy-version"
	ruleDocuments   = "second-document"
	RuleKeyTwice    = "key-twice"
	ruleMisread     = "misread"
	ruleDuplicate   = "duplicate-binding"
	ruleUnnamed     = "unnamed-binding"
	ruleNoWait      = "wait-without-queue"
	ruleNoObject    = "nothing-kept"
	ruleSecrets     = "secrets-in-memory"
	ruleCrowd       = "crowd-in-memory"
	ruleNoEffect    = "no-effect"
	ruleNoRules     = "webhook-never-called"
	ruleNeverRun    = "never-run"
	ruleMutating    = "mutating-refused"
	ruleCondition   = "match-condition"
	ruleGroupQueues = "group-in-queues"
	ruleSameVersion = "conversion-to-itself"
	ruleUnasked     = "webhook-of-addon"
	ruleUnknown     = "unknown-kind"
	ruleField       = "unknown-field"
	ruleNoNamespace = "no-namespace"
)

// Rules are all that findings of this package can be about.
func Rules() []Rule {
	return []Rule{
		{RuleSyntax, true, "neither YAML nor JSON"},
		{ruleSchema, true, "a key, a type or a value that the engine does not know"},
		{ruleSettings, true, "one of the two settings without the other"},
		{ruleKind, true, "no version of an API"},
		{ruleSelector, true, "a selector that the API server does not take"},
		{ruleJQ, true, "a filter that does not compile"},
		{ruleSnapshots, true, "snapshots of a binding that is not there, or twice"},
		{ruleCrontab, true, "no time"},
		{ruleStep, true, "an order of beforeHelm and the like that addon-operator does not take"},
		{ruleWebhook, true, "a validating webhook that the API server would refuse"},
		{ruleVersion, false, "no configVersion: the engine's first format"},
		{ruleDocuments, false, "a second YAML document, which nobody reads"},
		{RuleKeyTwice, false, "a key that is there twice: the last one counts"},
		{ruleMisread, false, "what YAML reads as another thing: the key on is true, 010 is 8"},
		{ruleDuplicate, false, "two bindings of one name"},
		{ruleUnnamed, false, "several schedules without names"},
		{ruleNoWait, false, "waitForSynchronization: false without a queue, which is passed over"},
		{ruleNoObject, false, "neither objects nor filter results are kept"},
		{ruleSecrets, false, "all Secrets of the cluster are kept, whole"},
		{ruleCrowd, false, "all Pods of the cluster, or as many others, are kept, whole"},
		{ruleNoEffect, false, "a key that the engine does not read"},
		{ruleNoRules, false, "a webhook without rules, which is never called"},
		{ruleNeverRun, false, "settings by which a hook is never run"},
		{ruleMutating, false, "a mutating webhook that the API server refuses when the operator starts"},
		{ruleCondition, false, "a matchCondition that the API server refuses when the operator starts"},
		{ruleGroupQueues, false, "members of one group that do not wait for each other"},
		{ruleSameVersion, false, "a conversion from a version to itself"},
		{ruleUnknown, false, "a kind that neither Kubernetes nor a CRD in config/crd/bases has to watch"},
		{ruleField, false, "a field that the API server selects no objects of the kind by"},
		{ruleNoNamespace, false, "namespaces of objects that live in none"},
		{ruleUnasked, false, "a webhook of an addon-operator's hook: it asks none"},
	}
}
