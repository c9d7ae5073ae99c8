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
// changes, the versions make no difference. The warning is short if the files already have the version
// that generates, so that an earlier one offered the choice.
func warnVersion(jobs *request.Jobs, p *scaffold.Plan) {
	if jobs.Tools != "" || !slices.ContainsFunc(p.Changes(), changesGenerated) {
		return
	}
	have, pin := controllertools.Version(), jobs.Pin()
	if pin.Version == "" || pin.Version == have {
		return
	}
	message := fmt.Sprintf("the project pins controller-tools %s and operon generates with %s", pin.Version, have)
	if !hasVersion(have, p) {
		message += "; choose once: operon generate --controller-tools operon"
		if controllertools.BuildsWithNewGo(pin.Version) {
			message += ", or --controller-tools " + pin.Version
		} else {
			message += fmt.Sprintf("; Go 1.25 and later versions cannot build %s, but %s", pin.Version, controllertools.FirstForGo125)
		}
	}
	p.Warn(scaffold.Warning{File: pin.File, Line: pin.Line, Column: 1, Rule: RuleToolsVersion, Message: message})
}

func changesGenerated(c scaffold.Change) bool {
	return c.Class == scaffold.Generated && c.Op != scaffold.Keep
}

// hasVersion reports whether a version of controller-tools generated all CRDs of the project on the disk, and at
// least one.
func hasVersion(version string, p *scaffold.Plan) bool {
	before := map[string][]byte{}
	for _, c := range p.Changes() {
		before[c.Path] = c.Before
	}
	found := false
	for _, t := range p.Generated() {
		disk, changed := before[t.Path]
		if !changed {
			disk, _ = p.Read(t.Path) // an unchanged file exists
		}
		switch controllertools.VersionIn(disk) {
		case "":
		case version:
			found = true
		default:
			return false
		}
	}
	return found
}
