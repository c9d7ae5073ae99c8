package olm

import (
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/makefile"
)

var (
	bundleTarget   = lazyregexp.New(`(?m)^bundle[ \t]*:`)
	generated      = lazyregexp.New(`(?m)^GENERATED[ \t]*[:?]?=`)
	withoutTargets = lazyregexp.New(`(?m)^# The plugin olm replaces this rule .*\nbundl%: FORCE\n\t.*\n\n\.PHONY: FORCE\nFORCE:\n\n`)
	manifestTarget = lazyregexp.New(`(?m)^manifests[ \t]*:`)
)

// addTargets appends the targets of bundles and catalogs to the Makefile, unless it has a
// target bundle.
func addTargets(v values, p *scaffold.Plan) error {
	return makefile.Append(p, "olm/makefile", func(src []byte) ([]byte, any) {
		src = withoutTargets().ReplaceAllLiteral(src, nil)
		switch {
		case bundleTarget().Match(src):
			return src, nil
		case generated().Match(src):
			v.Needs = " $(GENERATED)"
		case manifestTarget().Match(src):
			v.Needs = " manifests"
		}
		return src, v
	})
}
