package hooks

import (
	"slices"

	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/rbac"
)

// Names of rules about files and scripts. Those about configurations are in
// package config.
const (
	ruleShebang       = "shebang"
	ruleConfigFails   = "config-fails"
	RuleNotExecutable = "not-executable"
	ruleLibExecutable = "executable-in-lib"
	ruleNoHandler     = "no-handler"
	ruleDeadHandler   = "dead-handler"
	ruleAnsweredTwice = "answered-twice"
)

// Rules are all that findings can be about: first those that refuse.
func Rules() []config.Rule {
	all := append([]config.Rule{
		{Name: ruleShebang, Refuses: true, About: "a first line with which the system cannot start the hook"},
		{Name: ruleConfigFails, Refuses: true, About: "--config fails, or does not end"},
		{Name: RuleNotExecutable, About: "a script that the engine passes over"},
		{Name: ruleLibExecutable, About: "an executable file in lib, which is no hook there"},
		{Name: ruleNoHandler, About: "a binding that no function of the script handles"},
		{Name: ruleDeadHandler, About: "a function that no binding calls"},
		{Name: ruleAnsweredTwice, About: "requests that two webhooks or conversions answer"},
		{Name: rbac.RuleMarker, About: "an RBAC marker that does not parse, or allows nothing"},
	}, config.Rules()...)
	slices.SortStableFunc(all, func(a, b config.Rule) int {
		switch {
		case a.Refuses == b.Refuses:
			return 0
		case a.Refuses:
			return -1
		}
		return 1
	})
	return all
}
