package output

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/scaffold"
)

// ruleToolsVersion warns of a project that pins another controller-tools.
const ruleToolsVersion = "controller-tools-version"

var pinnedTools = regexp.MustCompile(`(?m)^CONTROLLER_TOOLS_VERSION[ \t]*[?:]?=[ \t]*(v[^\s#]+)`)

// warnVersion says so when the project's Makefile pins another controller-tools
// than this binary holds, for then make and operon generate different files.
func warnVersion(p *scaffold.Plan) {
	src, err := p.Read("Makefile")
	if err != nil {
		return // no Makefile pins nothing
	}
	m := pinnedTools.FindSubmatchIndex(src)
	if m == nil {
		return
	}
	pinned, have := string(src[m[2]:m[3]]), controllertools.Version()
	if pinned == have {
		return
	}
	p.Warn(scaffold.Warning{
		File: "Makefile", Line: 1 + strings.Count(string(src[:m[0]]), "\n"), Column: 1, Rule: ruleToolsVersion,
		Message: fmt.Sprintf("the project pins controller-tools %[1]s and operon generates with %[2]s; "+
			"set it to %[2]s, or generate with go run %[3]s/cmd/controller-gen@%[1]s", pinned, have, controllertools.Module),
	})
}
