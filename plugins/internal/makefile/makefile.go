// Package makefile adds targets of companion plugins to the Makefile of a project.
package makefile

import (
	"bytes"
	"io/fs"

	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

// Name is the path of the Makefile in a project.
const Name = "Makefile"

// Append appends the targets in the templates below folder to the Makefile. prepare returns the Makefile without what
// the targets replace, and the values for the templates, or nil values if the Makefile has the targets. A project
// without a Makefile stays without one: it works without make.
func Append(p *scaffold.Plan, folder string, prepare func(src []byte) (rest []byte, values any)) error {
	if !p.Exists(Name) && !p.HasBase(Name) {
		return nil
	}
	return p.Edit(Name, func(src []byte) ([]byte, error) {
		rest, values := prepare(src)
		if values == nil {
			return rest, nil
		}
		out := bytes.Clone(bytes.TrimRight(rest, "\n"))
		err := render.Tree(p.Templates(templates.FS), folder, nil, values, func(_ string, _ fs.FileMode, content []byte) error {
			out = append(append(out, "\n\n"...), content...)
			return nil
		})
		return out, err
	})
}
