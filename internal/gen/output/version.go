package output

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/scaffold"
)

// ruleToolsVersion is the rule for a project that pins another version of
// controller-tools.
const ruleToolsVersion = "controller-tools-version"

var pinnedTools = lazyregexp.New(`(?m)^CONTROLLER_TOOLS_VERSION[ \t]*[?:]?=[ \t]*(v[^\s#]+)`)

// warnVersion warns if the plan changes generated files and the project's Makefile pins a
// version of controller-tools that differs from that of this program. `make generate` may
// change these files back. While no file changes, the versions make no difference.
func warnVersion(p *scaffold.Plan) {
	if !slices.ContainsFunc(p.Changes(), func(c scaffold.Change) bool { return c.Class == scaffold.Generated && c.Op != scaffold.Keep }) {
		return
	}
	src, err := p.Read("Makefile")
	if err != nil {
		return // without a Makefile, no version is pinned
	}
	m := pinnedTools().FindSubmatchIndex(src)
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
