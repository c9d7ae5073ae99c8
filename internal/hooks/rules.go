package hooks

import (
	"cmp"
	"slices"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/rbac"
)

// The names of rules about files and scripts. Package config has those about
// configurations.
const (
	ruleShebang         = "shebang"
	ruleConfigFails     = "config-fails"
	RuleNotExecutable   = "not-executable"
	ruleLibExecutable   = "executable-in-lib"
	ruleNoHandler       = "no-handler"
	ruleDeadHandler     = "dead-handler"
	ruleDuplicateAnswer = "answered-twice"
)

// Rules returns the rules of all findings about hooks, errors first.
func Rules() []finding.Rule {
	all := append([]finding.Rule{
		{Name: ruleShebang, Severity: finding.Error, Summary: "a first line with which the system cannot start the hook"},
		{Name: ruleConfigFails, Severity: finding.Error, Summary: "--config fails or does not exit"},
		{Name: RuleNotExecutable, Summary: "a script that the engine ignores"},
		{Name: ruleLibExecutable, Summary: "an executable file in a lib folder, where the engine does not look for hooks"},
		{Name: ruleNoHandler, Summary: "a binding that no function of the script handles"},
		{Name: ruleDeadHandler, Summary: "a function that no binding calls"},
		{Name: ruleDuplicateAnswer, Summary: "requests that two webhooks or conversions handle"},
		{Name: rbac.RuleMarker, Summary: "an RBAC marker that does not parse, or allows nothing"},
	}, config.Rules()...)
	slices.SortStableFunc(all, func(a, b finding.Rule) int { return cmp.Compare(b.Severity, a.Severity) })
	return all
}
