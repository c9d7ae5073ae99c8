package output

import (
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/scaffold"
)

// RuleToolsVersion is the rule for a project that pins another version of
// controller-tools.
const RuleToolsVersion = "controller-tools-version"

// warnVersion warns if the plan changes generated files and the project pins another version of
// controller-tools than the one that generates, until PROJECT records a choice. While no file
// changes, the versions make no difference.
func warnVersion(jobs *request.Jobs, p *scaffold.Plan) {
	if jobs.Tools == request.OwnTools ||
		!slices.ContainsFunc(p.Changes(), func(c scaffold.Change) bool { return c.Class == scaffold.Generated && c.Op != scaffold.Keep }) {
		return
	}
	have := controllertools.Version()
	if jobs.Tools != "" {
		have = jobs.Tools
	}
	pin := jobs.Pin()
	if pin.Version == "" || pin.Version == have {
		return
	}
	p.Warn(scaffold.Warning{
		File: pin.File, Line: pin.Line, Column: 1, Rule: RuleToolsVersion,
		Message: fmt.Sprintf("the project pins controller-tools %[1]s and operon generates with %[2]s; "+
			"choose once: operon generate --controller-tools operon, or --controller-tools %[1]s", pin.Version, have),
	})
}
