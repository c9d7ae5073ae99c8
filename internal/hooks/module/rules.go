package module

import "github.com/operon-dev/operon/internal/finding"

// The errors.
var (
	ruleName     = finding.Rule{Name: "module-name", Severity: finding.Error, Summary: "a folder in modules whose name is not a valid module name"}
	ruleValues   = finding.Rule{Name: "values", Severity: finding.Error, Summary: "values that cannot be read"}
	ruleOpenAPI  = finding.Rule{Name: "values-schema", Severity: finding.Error, Summary: "a schema in openapi that cannot be read"}
	ruleMisfit   = finding.Rule{Name: "values-misfit", Severity: finding.Error, Summary: "values that do not match the schema of the module"}
	ruleChart    = finding.Rule{Name: "chart", Severity: finding.Error, Summary: "a chart that Helm cannot load"}
	ruleTemplate = finding.Rule{Name: "template", Severity: finding.Error, Summary: "a template of the chart that does not render"}
	ruleCRD      = finding.Rule{Name: "module-crd", Severity: finding.Error, Summary: "a file in the crds folder of a module that cannot be installed"}
)

// The warnings.
var (
	ruleCRDIgnored    = finding.Rule{Name: "crd-unread", Summary: "a file in the crds folder of a module that is ignored"}
	ruleDuplicate     = finding.Rule{Name: "module-twice", Summary: "two modules with the same name"}
	ruleFlagName      = finding.Rule{Name: "module-switch", Summary: "a module whose key is a flag of another module"}
	ruleNoExtension   = finding.Rule{Name: "no-extension", Summary: "a hook that addon-operator first runs as a compiled hook"}
	ruleStockLibrary  = finding.Rule{Name: "stock-library", Summary: "a hook that sources the shell library of the image, which is incomplete in addon-operator"}
	ruleEnabledScript = finding.Rule{Name: "enabled-script", Summary: "an enabled script that is not executable"}
	ruleNoChart       = finding.Rule{Name: "no-chart", Summary: "a module without a chart"}
	ruleUnknownValues = finding.Rule{Name: "strange-values", Summary: "values outside the key of the module"}
	ruleIgnored       = finding.Rule{Name: "ignored-values", Summary: "a section of values that is not an object, and is ignored"}
	ruleFlagIgnored   = finding.Rule{Name: "enabled-flag", Summary: "an enabled flag in a file where addon-operator does not read it"}
	ruleRequired      = finding.Rule{Name: "values-required", Summary: "required values that only the ConfigMap or a hook can set"}
	ruleKeyword       = finding.Rule{Name: "schema-keyword", Summary: "a schema keyword that has no effect, or that only addon-operator evaluates"}
	ruleObject        = finding.Rule{Name: "object", Summary: "an object of the chart that the API server would reject"}
)

// Rules returns the rules of this package, errors first.
func Rules() []finding.Rule {
	return []finding.Rule{
		ruleName, ruleValues, ruleOpenAPI, ruleMisfit, ruleChart, ruleTemplate, ruleCRD, ruleCRDIgnored, ruleDuplicate,
		ruleFlagName, ruleNoExtension, ruleStockLibrary, ruleEnabledScript, ruleNoChart, ruleUnknownValues,
		ruleIgnored, ruleFlagIgnored, ruleRequired, ruleKeyword, ruleObject,
	}
}
