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

// Rules are all that findings of this package can be about.
func Rules() []finding.Rule {
	return []finding.Rule{
		{Name: rulePatchSyntax, Severity: finding.Error, Summary: "a patch file that is neither JSON nor YAML"},
		{Name: rulePatchSchema, Severity: finding.Error, Summary: "an operation that the engine does not take, nor any other of its file"},
		{Name: ruleMetricSyntax, Severity: finding.Error, Summary: "metrics that are no JSON objects, or of other types"},
		{Name: ruleMetric, Severity: finding.Error, Summary: "a metric that fails the run of its hook"},
		{Name: ruleAnswerSyntax, Severity: finding.Error, Summary: "an answer that is no JSON object, or of other types"},
		{Name: rulePatchKey, Summary: "a key that no operation has"},
		{Name: rulePatchNoEffect, Summary: "a key that this operation passes over"},
		{Name: rulePatchFails, Summary: "an operation that is taken, and fails"},
		{Name: ruleForeground, Summary: "Delete, which waits up to 20 s while its queue stands still"},
		{Name: ruleVersion, Summary: "a resourceVersion in an object to create"},
		{Name: ruleMetricKey, Summary: "a key that no metric has"},
		{Name: ruleMetricDropped, Summary: "a metric that the engine passes over"},
		{Name: ruleMetricCounter, Summary: "a counter or histogram, which begins anew with each run"},
		{Name: ruleMetricNoEffect, Summary: "a key that this action passes over"},
		{Name: ruleAnswerKey, Summary: "a key that no answer has"},
		{Name: ruleAnswerMissing, Summary: "an empty answer"},
		{Name: ruleAnswerDenies, Summary: "a request denied without a word"},
		{Name: ruleAnswerNoEffect, Summary: "a part of an answer that nobody reads"},
		{Name: ruleAnswerPatch, Summary: "a patch that the API server refuses"},
		{Name: ruleAnswerObject, Summary: "converted objects that the API server refuses"},
	}
}
