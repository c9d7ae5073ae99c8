package hooks

import (
	"cmp"
	"slices"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/rbac"
)

// The rules about files and scripts. Package config has the rules about configurations.
var (
	ruleShebang     = finding.Rule{Name: "shebang", Severity: finding.Error, Summary: "a first line that does not let the system start the hook"}
	ruleConfigFails = finding.Rule{Name: "config-fails", Severity: finding.Error, Summary: "--config fails or does not exit"}
	// RuleNoInterpreter is about this machine: the hooks may run in the image of the engine.
	RuleNoInterpreter   = finding.Rule{Name: "no-interpreter", Severity: finding.Error, Summary: "a hook whose interpreter is not on the PATH of this machine"}
	RuleNotExecutable   = finding.Rule{Name: "not-executable", Summary: "a script that the engine ignores"}
	ruleLibExecutable   = finding.Rule{Name: "executable-in-lib", Summary: "an executable file in a lib folder, where the engine does not look for hooks"}
	ruleBackup          = finding.Rule{Name: "backup-file", Summary: "an executable backup of a file, which the engine runs as a hook"}
	ruleShellSyntax     = finding.Rule{Name: "shell-syntax", Summary: "a shell script that bash cannot parse"}
	ruleNoHandler       = finding.Rule{Name: "no-handler", Summary: "a binding that no function of the script handles"}
	ruleDeadHandler     = finding.Rule{Name: "dead-handler", Summary: "a function that no binding calls"}
	ruleDuplicateAnswer = finding.Rule{Name: "answered-twice", Summary: "requests that two webhooks or conversions answer"}
	// RuleMarker is about the roles: the engine starts without them.
	RuleMarker = finding.Rule{Name: rbac.RuleMarker, Severity: finding.Error, Summary: "an RBAC marker that is invalid or grants nothing"}
)

// Rules returns the rules of this package and of package config, errors first.
func Rules() []finding.Rule {
	all := append([]finding.Rule{
		ruleShebang, ruleConfigFails, RuleNoInterpreter, RuleMarker, RuleNotExecutable, ruleLibExecutable,
		ruleBackup, ruleShellSyntax, ruleNoHandler, ruleDeadHandler, ruleDuplicateAnswer,
	}, config.Rules()...)
	slices.SortStableFunc(all, func(a, b finding.Rule) int { return cmp.Compare(b.Severity, a.Severity) })
	return all
}
