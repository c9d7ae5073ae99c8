package output

import "github.com/operon-dev/operon/internal/hooks/config"

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
func Rules() []config.Rule {
	return []config.Rule{
		{Name: rulePatchSyntax, Refuses: true, About: "a patch file that is neither JSON nor YAML"},
		{Name: rulePatchSchema, Refuses: true, About: "an operation that the engine does not take, nor any other of its file"},
		{Name: ruleMetricSyntax, Refuses: true, About: "metrics that are no JSON objects, or of other types"},
		{Name: ruleMetric, Refuses: true, About: "a metric that fails the run of its hook"},
		{Name: ruleAnswerSyntax, Refuses: true, About: "an answer that is no JSON object, or of other types"},
		{Name: rulePatchKey, About: "a key that no operation has"},
		{Name: rulePatchNoEffect, About: "a key that this operation passes over"},
		{Name: rulePatchFails, About: "an operation that is taken, and fails"},
		{Name: ruleForeground, About: "Delete, which waits up to 20 s while its queue stands still"},
		{Name: ruleVersion, About: "a resourceVersion in an object to create"},
		{Name: ruleMetricKey, About: "a key that no metric has"},
		{Name: ruleMetricDropped, About: "a metric that the engine passes over"},
		{Name: ruleMetricCounter, About: "a counter or histogram, which begins anew with each run"},
		{Name: ruleMetricNoEffect, About: "a key that this action passes over"},
		{Name: ruleAnswerKey, About: "a key that no answer has"},
		{Name: ruleAnswerMissing, About: "an empty answer"},
		{Name: ruleAnswerDenies, About: "a request denied without a word"},
		{Name: ruleAnswerNoEffect, About: "a part of an answer that nobody reads"},
		{Name: ruleAnswerPatch, About: "a patch that the API server refuses"},
		{Name: ruleAnswerObject, About: "converted objects that the API server refuses"},
	}
}
