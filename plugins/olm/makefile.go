package olm

import (
	"bytes"
	"io/fs"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

const makefile = "Makefile"

var (
	bundleTarget   = lazyregexp.New(`(?m)^bundle[ \t]*:`)
	generated      = lazyregexp.New(`(?m)^GENERATED[ \t]*[:?]?=`)
	withoutTargets = lazyregexp.New(`(?m)^# The plugin olm replaces this rule .*\nbundl%: FORCE\n\t.*\n\n\.PHONY: FORCE\nFORCE:\n\n`)
	manifestTarget = lazyregexp.New(`(?m)^manifests[ \t]*:`)
)

// addTargets appends the targets of bundles and catalogs to the Makefile, unless it has a
// target bundle.
func addTargets(v values, p *scaffold.Plan) error {
	if !p.Exists(makefile) && !p.HasBase(makefile) {
		return nil // the project works without make
	}
	return p.Edit(makefile, func(src []byte) ([]byte, error) {
		src = withoutTargets().ReplaceAllLiteral(src, nil)
		if bundleTarget().Match(src) {
			return src, nil
		}
		switch {
		case generated().Match(src):
			v.Needs = " $(GENERATED)"
		case manifestTarget().Match(src):
			v.Needs = " manifests"
		}
		out := bytes.TrimRight(src, "\n")
		err := render.Tree(p.Templates(templates.FS), "olm/makefile", nil, v, func(_ string, _ fs.FileMode, content []byte) error {
			out = append(append(bytes.Clone(out), "\n\n"...), content...)
			return nil
		})
		return out, err
	})
}
