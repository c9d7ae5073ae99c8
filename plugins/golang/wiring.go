package golang

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// Import paths that inserted lines need.
const (
	utilRuntime  = "k8s.io/apimachinery/pkg/util/runtime"
	clientScheme = "k8s.io/client-go/kubernetes/scheme"
)

// setupController sets up a controller in the same form as kubebuilder, so that main.go
// stays uniform.
const setupController = `if err := (&%[1]s.%[2]s{
	Client: %[3]s.GetClient(),
	Scheme: %[3]s.GetScheme(),
}).SetupWithManager(%[3]s); err != nil {
%[4]s
}`

// usualNames are the names that lines in hints use.
func usualNames(local string) setupNames {
	return setupNames{manager: "mgr", logger: "setupLog", os: "os", local: local}
}

// controllerLines returns the lines that set up a controller of r.
func controllerLines(c *project.Config, r project.Resource, controller string, n setupNames) string {
	fails := n.fails("cannot set up the controller", "controller", c.ControllerName(r, controller))
	return fmt.Sprintf(setupController, n.local, r.Reconciler(controller), n.manager, indentLines(fails))
}

// indentLines puts a tab before each line.
func indentLines(lines string) string { return "\t" + strings.ReplaceAll(lines, "\n", "\n\t") }

// mainLines returns the lines that wireMain adds, for hints.
func mainLines(c *project.Config, r project.Resource) string {
	var lines string
	if !inClientScheme(r) {
		lines = fmt.Sprintf("import %s %q\nutilruntime.Must(%s.AddToScheme(scheme)) // in func init\n", r.ImportAlias(), c.APIPath(r), r.ImportAlias())
	}
	name := cmp.Or(c.ControllerAlias(r), c.ControllerPackage(r))
	for i, controller := range r.ControllerNames() {
		if i == 0 {
			lines += fmt.Sprintf("import %s %q\n", name, c.ControllerPath(r))
		}
		lines += controllerLines(c, r, controller, usualNames(name)) + "\n"
	}
	return strings.TrimSuffix(lines, "\n")
}

// wiring is code for a kind in the manager's main package.
type wiring struct {
	done func(*goedit.File) bool    // reports whether a file has the code, in any form
	add  []func(*goedit.File) error // ways to add the code to a file, the preferred one first
}

// wireMain registers the types of r with the manager's scheme, and sets up its
// controllers. It does not add code that exists in any form in any file.
func wireMain(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	m, err := readMain(c, p)
	if err != nil {
		return err
	}
	var controllers []wiring
	for _, name := range r.ControllerNames() {
		controllers = append(controllers, setUp(c, r, name, m))
	}
	return m.wireKind(c, r, controllers, mainLines(c, r), p)
}

// wireKind registers the types of r with the manager's scheme, and adds the wirings. If
// a place for code is missing, the hint has all lines, because other places may be
// missing too.
func (m mainPackage) wireKind(c *project.Config, r project.Resource, wirings []wiring, lines string, p *scaffold.Plan) error {
	if !inClientScheme(r) {
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
			hint := unwiredHint + lines
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
func (m mainPackage) addSetup(code setupCode) []func(*goedit.File) error {
	return []func(*goedit.File) error{func(f *goedit.File) error {
		anchors := builderAnchors(f)
		if fn, _ := f.Assigned(makeManager...); fn != "" && code.after != "" {
			anchors = slices.Insert(anchors, 0, goedit.AfterCall(fn, code.after))
		}
		return m.insertSetup(f, code, anchors)
	}}
}

// insertSetup adds the code at the first of the anchors that the file has.
func (m mainPackage) insertSetup(f *goedit.File, code setupCode, anchors []goedit.Anchor) error {
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

// setUp sets up a controller of r with the manager.
func setUp(c *project.Config, r project.Resource, controller string, m mainPackage) wiring {
	code := setupCode{alias: c.ControllerAlias(r), path: c.ControllerPath(r), text: func(n setupNames) string {
		return controllerLines(c, r, controller, n)
	}}
	return wiring{done: func(f *goedit.File) bool { return f.Uses(code.path, r.Reconciler(controller)) }, add: m.addSetup(code)}
}

// wireSuite registers the types of r with client-go's scheme, which suites use. Without a suite there
// is nothing to do. If existing code is not edited, it warns about the lines that are missing.
func wireSuite(c *project.Config, r project.Resource, suite testSuite, unwired bool, p *scaffold.Plan) error {
	if suite.file == "" || inClientScheme(r) {
		return nil
	}
	return editSuite(suite, suiteSchemeEdit(c, r), unwired, p)
}

// editSuite edits a suite. unwired means that a suite which existed before this command is not edited.
func editSuite(suite testSuite, edit func(*goedit.File) error, unwired bool, p *scaffold.Plan) error {
	name := suite.file
	if unwired && !suite.isNew {
		src, err := p.Read(name)
		if err != nil {
			return err
		}
		if lines := addition(source.File{Name: name, Src: src}, nil, edit); lines != "" {
			warnUnwired(name, lines, p)
		}
		return nil
	}
	if err := source.Edit(p, name, edit); err != nil {
		_, lines, found := strings.Cut(fault.HintOf(err), ":\n")
		if !found {
			return err
		}
		return &fault.Error{Code: fault.Code(err), Err: err, Hint: unwiredHint + strings.TrimLeft(lines, "\n")}
	}
	return nil
}

// suiteSchemeEdit returns an edit that makes a suite register the types of r.
func suiteSchemeEdit(c *project.Config, r project.Resource) func(*goedit.File) error {
	return func(f *goedit.File) error {
		types := c.APIPath(r)
		if f.Uses(types, "AddToScheme") {
			return nil
		}
		anchors := []goedit.Anchor{goedit.Marker("scheme"), goedit.AfterCall("BeforeSuite", "AddToScheme"), goedit.BeforeCall("BeforeSuite", "testEnv.Start")}
		at := f.ScopeAt(anchors...)
		scheme := ""
		if at != nil {
			scheme = at.Argument("AddToScheme") // the suite may have a scheme of its own
		}
		api := f.ImportAt(r.ImportAlias(), types, anchors...)
		if scheme == "" {
			scheme = f.ImportAt("", clientScheme, anchors...) + ".Scheme"
		}
		// kubebuilder looks for exactly these lines.
		lines := "err = %s.AddToScheme(%s)\nExpect(err).NotTo(HaveOccurred())"
		if at != nil && !at.Variable("err") {
			lines = "Expect(%s.AddToScheme(%s)).To(Succeed())"
		}
		return f.Insert(fmt.Sprintf(lines, api, scheme), anchors...)
	}
}

// unwiredHint is the start of a hint with lines that operon cannot add. They name packages that do not
// exist before the command has run.
const unwiredHint = "repeat the command with --wire=false, which creates the files, and add these lines by hand where they belong:\n"

// isWired reports whether a command edits existing code, so that it uses what the command adds.
func isWired(e plugin.Event) bool {
	on, given := e.Options[wireOption].(bool)
	return on || !given
}

// wireOption is the name of the flag for isWired.
const wireOption = "wire"

// warnUnwired warns about lines that a command does not add to a file, because the user asked for that.
func warnUnwired(file, lines string, p *scaffold.Plan) {
	p.Warn(scaffold.Warning{File: file, Rule: "not-wired", Message: "this file is not edited; add these lines where they belong", Lines: lines})
}
