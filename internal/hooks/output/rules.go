package output

import "github.com/operon-dev/operon/internal/finding"

// The errors.
var (
	rulePatchSyntax  = finding.Rule{Name: "patch-syntax", Severity: finding.Error, Summary: "a patch file that is neither JSON nor YAML"}
	rulePatchSchema  = finding.Rule{Name: "patch-schema", Severity: finding.Error, Summary: "an invalid operation: the engine rejects the entire file"}
	ruleMetricSyntax = finding.Rule{Name: "metric-syntax", Severity: finding.Error, Summary: "a metric that is not a JSON object, or has a value of the wrong type"}
	ruleMetric       = finding.Rule{Name: "metric", Severity: finding.Error, Summary: "a metric without a name, a value or buckets: the hook fails"}
	ruleAnswerSyntax = finding.Rule{Name: "answer-syntax", Severity: finding.Error, Summary: "a response that is not a JSON object, or has a value of the wrong type"}
)

// The warnings.
var (
	rulePatchKey       = finding.Rule{Name: "patch-unknown-key", Summary: "an unknown key in an operation"}
	rulePatchNoEffect  = finding.Rule{Name: "patch-no-effect", Summary: "a key that has no effect on the operation"}
	rulePatchFails     = finding.Rule{Name: "patch-fails", Summary: "an operation that the engine accepts, but that fails"}
	ruleForeground     = finding.Rule{Name: "delete-foreground", Summary: "Delete, which blocks the queue for up to 20 s"}
	ruleVersion        = finding.Rule{Name: "patch-resource-version", Summary: "a resourceVersion in an object to create"}
	ruleMetricKey      = finding.Rule{Name: "metric-unknown-key", Summary: "an unknown key in a metric"}
	ruleMetricDropped  = finding.Rule{Name: "metric-dropped", Summary: "a metric that the engine ignores"}
	ruleMetricCounter  = finding.Rule{Name: "metric-counter", Summary: "a counter or histogram, which each run of the hook resets"}
	ruleMetricNoEffect = finding.Rule{Name: "metric-no-effect", Summary: "a key that has no effect on the action"}
	ruleAnswerKey      = finding.Rule{Name: "answer-unknown-key", Summary: "an unknown key in a response"}
	ruleAnswerMissing  = finding.Rule{Name: "answer-missing", Summary: "an empty response"}
	ruleAnswerDenies   = finding.Rule{Name: "answer-denies", Summary: "a request that is denied without a reason"}
	ruleAnswerNoEffect = finding.Rule{Name: "answer-no-effect", Summary: "a part of a response that has no effect"}
	ruleAnswerPatch    = finding.Rule{Name: "answer-patch", Summary: "a patch that the API server rejects"}
	ruleAnswerObject   = finding.Rule{Name: "answer-objects", Summary: "converted objects that the API server rejects"}
)

// Rules returns the rules of this package, errors first.
func Rules() []finding.Rule {
	return []finding.Rule{
		rulePatchSyntax, rulePatchSchema, ruleMetricSyntax, ruleMetric, ruleAnswerSyntax, rulePatchKey, rulePatchNoEffect,
		rulePatchFails, ruleForeground, ruleVersion, ruleMetricKey, ruleMetricDropped, ruleMetricCounter, ruleMetricNoEffect,
		ruleAnswerKey, ruleAnswerMissing, ruleAnswerDenies, ruleAnswerNoEffect, ruleAnswerPatch, ruleAnswerObject,
	}
}
