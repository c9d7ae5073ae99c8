package module

import (
	"github.com/operon-dev/operon/internal/finding"
)

// Names of rules.
const (
	ruleName     = "module-name"
	ruleValues   = "values"
	ruleOpenAPI  = "values-schema"
	ruleMisfit   = "values-misfit"
	ruleChart    = "chart"
	ruleTemplate = "template"

	ruleCRD         = "module-crd"
	ruleCRDUnread   = "crd-unread"
	ruleTwice       = "module-twice"
	ruleSwitch      = "module-switch"
	ruleNoExtension = "no-extension"
	ruleStock       = "stock-library"
	ruleEnabled     = "enabled-script"
	ruleNoChart     = "no-chart"
	ruleStrange     = "strange-values"
	ruleIgnored     = "ignored-values"
	ruleFlag        = "enabled-flag"
	ruleRequired    = "values-required"
	ruleKeyword     = "schema-keyword"
	ruleObject      = "object"
)

// Rules returns the rules of all findings about modules.
func Rules() []finding.Rule {
	return []finding.Rule{
		{Name: ruleName, Severity: finding.Error, Summary: "a folder in modules whose name is not valid for a module"},
		{Name: ruleValues, Severity: finding.Error, Summary: "values that cannot be read"},
		{Name: ruleOpenAPI, Severity: finding.Error, Summary: "a schema in openapi that cannot be read"},
		{Name: ruleMisfit, Severity: finding.Error, Summary: "values that do not fit the module's schema"},
		{Name: ruleChart, Severity: finding.Error, Summary: "a chart that Helm cannot load"},
		{Name: ruleTemplate, Severity: finding.Error, Summary: "a template of the chart that does not render"},
		{Name: ruleCRD, Severity: finding.Error, Summary: "a file in the crds folder of a module that cannot be installed"},
		{Name: ruleCRDUnread, Summary: "a file in the crds folder of a module that is ignored"},
		{Name: ruleTwice, Summary: "two modules with the same name"},
		{Name: ruleSwitch, Summary: "a module whose name is that of another module's switch"},
		{Name: ruleNoExtension, Summary: "a hook that addon-operator first tries as a compiled hook"},
		{Name: ruleStock, Summary: "a hook of addon-operator that sources a library that is incomplete in its image"},
		{Name: ruleEnabled, Summary: "an enabled script that is not run"},
		{Name: ruleNoChart, Summary: "a module without a chart"},
		{Name: ruleStrange, Summary: "values that are not the module's"},
		{Name: ruleIgnored, Summary: "a section of values that is not an object and is ignored"},
		{Name: ruleFlag, Summary: "a module switch in a place where it has no effect"},
		{Name: ruleRequired, Summary: "required values that only the ConfigMap or a hook can give"},
		{Name: ruleKeyword, Summary: "a keyword of a schema that has no effect, or is not checked here"},
		{Name: ruleObject, Summary: "an object of the chart that the API server would reject"},
	}
}
