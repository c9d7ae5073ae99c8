package module

import "github.com/operon-dev/operon/internal/hooks/config"

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

// Rules are all that findings about modules can be about.
func Rules() []config.Rule {
	return []config.Rule{
		{Name: ruleName, Refuses: true, About: "a folder in modules whose name is none of a module"},
		{Name: ruleValues, Refuses: true, About: "values of a module or of all that cannot be read"},
		{Name: ruleOpenAPI, Refuses: true, About: "a schema in openapi that cannot be read"},
		{Name: ruleMisfit, Refuses: true, About: "values that do not fit the module's schema"},
		{Name: ruleChart, Refuses: true, About: "a chart that Helm does not load"},
		{Name: ruleTemplate, Refuses: true, About: "a template of the chart that does not render"},
		{Name: ruleCRD, Refuses: true, About: "a file in crds of a module that is not installed"},
		{Name: ruleCRDUnread, About: "a file in crds of a module that nobody reads"},
		{Name: ruleTwice, About: "two modules of one name"},
		{Name: ruleSwitch, About: "a module that is called like a switch of another"},
		{Name: ruleNoExtension, About: "a hook that addon-operator takes for a compiled one at first"},
		{Name: ruleStock, About: "a hook of addon-operator that reads the library of the image, which is not whole there"},
		{Name: ruleEnabled, About: "a script enabled that is not run"},
		{Name: ruleNoChart, About: "a module without a chart"},
		{Name: ruleStrange, About: "values that are not the module's"},
		{Name: ruleIgnored, About: "a section of values that is no object, and counts for nothing"},
		{Name: ruleFlag, About: "a switch of a module where nobody reads it"},
		{Name: ruleRequired, About: "required values that only the ConfigMap or a hook can give"},
		{Name: ruleKeyword, About: "a keyword of a schema that has no effect, or is not checked here"},
		{Name: ruleObject, About: "an object of the chart that the API server would not take"},
	}
}
