package libraries

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Check returns an error if the plan adds code that does not compile with the
// versions of the libraries in the project's go.mod.
func Check(p *scaffold.Plan) error {
	have, err := readVersions(p)
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(slices.Clone(needs), func(n need) bool { return !n.isMissingIn(have) })
	if len(missing) == 0 {
		return nil
	}
	for _, c := range p.Changes() {
		if path.Ext(c.Path) != ".go" || c.After == nil || c.Op == scaffold.Keep {
			continue
		}
		before := usedNeeds(c.Before, missing)
		added := slices.DeleteFunc(usedNeeds(c.After, missing), func(n need) bool { return slices.Contains(before, n) })
		if len(added) > 0 {
			return errTooOld(c.Path, added, have)
		}
	}
	return nil
}

// errTooOld returns the error for a file that needs newer libraries.
func errTooOld(name string, added []need, have versions) error {
	var texts, commands []string
	for _, n := range added {
		texts = append(texts, fmt.Sprintf("%s needs %s %s (go.mod has %s)", n, n.module, n.version, have[n.module]))
		if get := n.module + "@" + n.version; !slices.Contains(commands, get) {
			commands = append(commands, get)
		}
	}
	return fault.Usage("run `go get "+strings.Join(commands, " ")+" && go mod tidy`, or later versions, and repeat the command",
		"%s would not compile: %s", name, strings.Join(texts, ", "))
}
