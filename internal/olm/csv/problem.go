package csv

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// problem is why an object cannot be part of a bundle.
type problem struct {
	file, text, fix string
}

// refuse adds a problem with an object; o is nil for one of the whole bundle.
func (g *generator) refuse(o *object, fix, format string, args ...any) {
	p := problem{text: fmt.Sprintf(format, args...), fix: fix}
	if o != nil {
		p.file = o.File
		o.leaveOut(p.text) // later steps need not refuse it again
	}
	g.problems = append(g.problems, p)
}

// fault returns all problems as one error, or nil.
func (g *generator) fault() error {
	switch len(g.problems) {
	case 0:
		return nil
	case 1:
		p := g.problems[0]
		if p.file == "" {
			return fault.Usage(p.fix, "%s", p.text)
		}
		return fault.In(p.file, fault.Usage(p.fix, "%s", p.text))
	}
	var hints []string
	for _, p := range g.problems {
		place := p.file
		if place != "" {
			place += ": "
		}
		hints = append(hints, "- "+place+p.text+": "+p.fix)
	}
	return fault.Usage("fix them:\n"+strings.Join(hints, "\n"), "the manifests have %d problems that prevent a bundle", len(g.problems))
}
