package manager

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// wiring is code for a kind in the manager's program.
type wiring struct {
	done   func(*goedit.File) bool    // reports whether a file has the code, in any form
	add    []func(*goedit.File) error // ways to add the code to a file, the preferred one first
	file   string                     // the file of another package that gets the code, or ""
	marker string                     // the scaffold marker at which a file can get it
	usual  string                     // the code in a program with the usual names
}

// wireAll adds the wirings. If a place for code is missing, the hint has all lines, because other places may be
// missing too.
func (m managerPackage) wireAll(c *project.Config, wirings []wiring, p *scaffold.Plan) error {
	for _, w := range wirings {
		err := m.wire(w, p)
		if err == nil {
			continue
		}
		var lines []string
		for _, u := range m.byHand(wirings, p) {
			lines = append(lines, u.lines)
		}
		hint := m.remedy(c, w, err, p) + "; or " + source.UnwiredHint + strings.Join(lines, "\n")
		return &fault.Error{Code: fault.Code(err), Err: err, Hint: hint}
	}
	return nil
}

// remedy says what makes a wiring possible that failed.
func (m managerPackage) remedy(c *project.Config, w wiring, err error, p *scaffold.Plan) string {
	if program, _ := source.NewReader(p).Program(c.Repo, path.Dir(m.name)); !makesManager(program) {
		return recordMain
	}
	marker := "the comment // +kubebuilder:scaffold:" + w.marker
	if unknown, ok := errors.AsType[noVariable](err); ok {
		return "put " + marker + " where a variable holds " + unknown.what + ", and repeat the command"
	}
	return "add " + marker + " to " + m.name + ", " + markerPlace(w.marker) + ", and repeat the command"
}

// unwired is code that the user adds to a file.
type unwired struct{ file, lines string }

// byHand returns the code of the wirings that the files lack, with the names of the project.
func (m managerPackage) byHand(wirings []wiring, p *scaffold.Plan) []unwired {
	var all []unwired
	for _, w := range wirings {
		if slices.ContainsFunc(m.files, func(s source.File) bool { return w.done(s.Parsed) }) {
			continue
		}
		name, add, files := w.file, w.add[0], m.files
		if name == "" {
			name, add = m.place(w)
		} else if disk, _, err := p.Before(name); err == nil {
			files = []source.File{{Name: name, Src: disk}}
		}
		lines := w.usual
		if i := slices.IndexFunc(files, func(s source.File) bool { return s.Name == name }); i >= 0 {
			lines = cmp.Or(source.MissingLines(files[i], m.declaredOutside(name), add), lines)
		}
		if i := slices.IndexFunc(all, func(u unwired) bool { return u.file == name }); i >= 0 {
			all[i].lines = joinLines(all[i].lines, lines)
			continue
		}
		all = append(all, unwired{name, lines})
	}
	return all
}

// warnUnwired warns about the code of the wirings that the files lack, because the user asked for that.
func (m managerPackage) warnUnwired(wirings []wiring, p *scaffold.Plan) {
	for _, u := range m.byHand(wirings, p) {
		source.WarnUnwired(u.file, u.lines, p)
	}
}

// joinLines adds lines to others, without the imports that these have.
func joinLines(have, more string) string {
	for line := range strings.SplitSeq(more, "\n") {
		if strings.HasPrefix(line, "import ") && strings.Contains("\n"+have+"\n", "\n"+line+"\n") {
			continue
		}
		have += "\n" + line
	}
	return strings.TrimPrefix(have, "\n")
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
	return "if " + os + ".Getenv(\"" + enableWebhooks + "\") != \"false\" {\n" + indentLines(lines) + "\n}"
}

// enableWebhooks is the variable of kubebuilder that lets a manager run without webhooks.
const enableWebhooks = "ENABLE_WEBHOOKS"

// addSetup returns how to add the code to a file.
func (m managerPackage) addSetup(code setupCode) []func(*goedit.File) error {
	return []func(*goedit.File) error{func(f *goedit.File) error {
		anchors := builderAnchors(f)
		if fn, _ := f.Assigned(source.MakeManager...); fn != "" && code.after != "" {
			anchors = slices.Insert(anchors, 0, goedit.AfterCall(fn, code.after))
		}
		return m.insertSetup(f, code, anchors)
	}}
}

// insertSetup adds the code at the first of the anchors that the file has.
func (m managerPackage) insertSetup(f *goedit.File, code setupCode, anchors []goedit.Anchor) error {
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
