package manager

import (
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// wiring is code for a kind in the manager's main package.
type wiring struct {
	done func(*goedit.File) bool    // reports whether a file has the code, in any form
	add  []func(*goedit.File) error // ways to add the code to a file, the preferred one first
}

// wireKind registers the types of r with the manager's scheme, and adds the wirings. If
// a place for code is missing, the hint has all lines, because other places may be
// missing too.
func (m Package) wireKind(c *project.Config, r project.Resource, wirings []wiring, lines string, p *scaffold.Plan) error {
	if !r.InClientScheme() {
		registered, err := m.registerElsewhere(c, r, p)
		if err != nil {
			return err
		}
		if !registered {
			wirings = slices.Insert(wirings, 0, registration(c, r, m))
		}
	}
	for _, w := range wirings {
		if err := m.wire(w, p); err != nil {
			hint := source.UnwiredHint + lines
			if program, _ := source.NewReader(p).Program(c.Repo, path.Dir(m.name), false); !makesManager(program) {
				hint = recordMain + "; or " + hint
			}
			return &fault.Error{Code: fault.Code(err), Err: err, Hint: hint}
		}
	}
	return nil
}

// setupCode is code where the manager is set up.
type setupCode struct {
	alias, path string // how it imports its package; "" if it needs none
	after       string // a call in the line before, if there is one
	webhook     bool   // only for a manager that serves webhooks
	text        func(n setupNames) string
}

// withWebhooks makes lines depend on the variable that lets a manager run without webhooks: the
// webhook server does not start without a certificate, which a workstation lacks.
func withWebhooks(os, lines string) string {
	return "if " + os + ".Getenv(\"ENABLE_WEBHOOKS\") != \"false\" {\n" + indentLines(lines) + "\n}"
}

// addSetup returns how to add the code to a file.
func (m Package) addSetup(code setupCode) []func(*goedit.File) error {
	return []func(*goedit.File) error{func(f *goedit.File) error {
		anchors := builderAnchors(f)
		if fn, _ := f.Assigned(source.MakeManager...); fn != "" && code.after != "" {
			anchors = slices.Insert(anchors, 0, goedit.AfterCall(fn, code.after))
		}
		return m.insertSetup(f, code, anchors)
	}}
}

// insertSetup adds the code at the first of the anchors that the file has.
func (m Package) insertSetup(f *goedit.File, code setupCode, anchors []goedit.Anchor) error {
	n, err := m.setupNames(f, anchors)
	if err != nil {
		return err
	}
	if code.path != "" {
		n.local = f.ImportAt(code.alias, code.path, anchors...)
	}
	lines := code.text(n)
	if code.webhook {
		lines = withWebhooks(f.ImportAt("", "os", anchors...), lines)
	}
	return f.Insert(lines, anchors...)
}
