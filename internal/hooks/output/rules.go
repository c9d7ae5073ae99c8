package output

import (
	"github.com/operon-dev/operon/internal/finding"
)

// Names of rules.
const (
	rulePatchSyntax  = "patch-syntax"
	rulePatchSchema  = "patch-schema"
	ruleMetricSyntax = "metric-syntax"
	ruleMetric       = "metric"
	ruleAnswerSyntax = "answer-syntax"

	rulePatchKey       = "patch-unknown-key"
	rulePatchNoEffect  = "patch-no-effect"
	rulePatchFails     = "patch-fails"
	ruleForeground     = "delete-foreground"
	ruleVersion        = "patch-resource-version"
	ruleMetricKey      = "metric-unknown-key"
	ruleMetricDropped  = "metric-dropped"
	ruleMetricCounter  = "metric-counter"
	ruleMetricNoEffect = "metric-no-effect"
	ruleAnswerKey      = "answer-unknown-key"
	ruleAnswerMissing  = "answer-missing"
	ruleAnswerDenies   = "answer-denies"
	ruleAnswerNoEffect = "answer-no-effect"
	ruleAnswerPatch    = "answer-patch"
	ruleAnswerObject   = "answer-objects"
)

// Rules returns the rules of the findings of this package.
func Rules() []finding.Rule {
	return []finding.Rule{
		{Name: rulePatchSyntax, Severity: finding.Error, Summary: "a patch file that is neither JSON nor YAML"},
		{Name: rulePatchSchema, Severity: finding.Error, Summary: "an operation that the engine rejects, with all others of its file"},
		{Name: ruleMetricSyntax, Severity: finding.Error, Summary: "metrics that are not JSON objects or have values of a wrong type"},
		{Name: ruleMetric, Severity: finding.Error, Summary: "a metric that fails the run of its hook"},
		{Name: ruleAnswerSyntax, Severity: finding.Error, Summary: "a response that is not a JSON object or has values of a wrong type"},
		{Name: rulePatchKey, Summary: "a key that no operation has"},
		{Name: rulePatchNoEffect, Summary: "a key that has no effect on the operation"},
		{Name: rulePatchFails, Summary: "an operation that the engine accepts and that fails"},
		{Name: ruleForeground, Summary: "Delete, which blocks its queue for up to 20 s"},
		{Name: ruleVersion, Summary: "a resourceVersion in an object to create"},
		{Name: ruleMetricKey, Summary: "a key that no metric has"},
		{Name: ruleMetricDropped, Summary: "a metric that the engine ignores"},
		{Name: ruleMetricCounter, Summary: "a counter or histogram, which each run resets"},
		{Name: ruleMetricNoEffect, Summary: "a key that has no effect on the action"},
		{Name: ruleAnswerKey, Summary: "a key that no response has"},
		{Name: ruleAnswerMissing, Summary: "an empty response"},
		{Name: ruleAnswerDenies, Summary: "a request that is denied without a reason"},
		{Name: ruleAnswerNoEffect, Summary: "a part of a response that has no effect"},
		{Name: ruleAnswerPatch, Summary: "a patch that the API server rejects"},
		{Name: ruleAnswerObject, Summary: "converted objects that the API server rejects"},
	}
}
