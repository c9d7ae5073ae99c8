package golang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
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
	%[4]s.Error(err, "cannot set up the controller", "controller", %[5]q)
	%[6]s.Exit(1)
}`

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
		lines += fmt.Sprintf(setupController, name, r.Reconciler(controller), "mgr", "setupLog", c.ControllerName(r, controller), "os") + "\n"
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
		wirings = slices.Insert(wirings, 0, registration(c, r, m))
	}
	for _, w := range wirings {
		if err := m.wire(w, p); err != nil {
			return &fault.Error{Code: fault.Code(err), Err: err,
				Hint: "add these lines by hand where they belong, then repeat the command:\n" + lines}
		}
	}
	return nil
}

// registration registers the types of r with the manager's scheme, preferably after
// other registrations.
func registration(c *project.Config, r project.Resource, m mainPackage) wiring {
	types := c.APIPath(r)
	add := func(f *goedit.File, anchors ...goedit.Anchor) error {
		scheme, err := m.scheme(f, anchors)
		if err != nil {
			return err
		}
		must, api := f.ImportAt("utilruntime", utilRuntime, anchors...), f.ImportAt(r.ImportAlias(), types, anchors...)
		return f.Insert(fmt.Sprintf("%s.Must(%s.AddToScheme(%s))", must, api, scheme), anchors...)
	}
	marker, others := goedit.Marker("scheme"), goedit.AfterCall("init", "AddToScheme")
	return wiring{
		done: func(f *goedit.File) bool { return f.Uses(types, "AddToScheme") },
		add: []func(*goedit.File) error{
			func(f *goedit.File) error { return add(f, marker, others) },
			func(f *goedit.File) error { return add(f, marker, others, goedit.EndOfFunc("init")) },
		},
	}
}

// setupCode is code where the manager is set up.
type setupCode struct {
	alias, path string // how it imports its package; "" if it needs none
	after       string // a call in the line before, if there is one
	text        func(n setupNames) string
}

// setupNames are the names in a file that a setupCode uses.
type setupNames struct{ manager, logger, os, local string }

// addSetup returns how to add the code to a file.
func (m mainPackage) addSetup(code setupCode) []func(*goedit.File) error {
	return []func(*goedit.File) error{func(f *goedit.File) error {
		anchors := builderAnchors(f)
		if fn, _ := f.Assigned(makeManager...); fn != "" && code.after != "" {
			anchors = slices.Insert(anchors, 0, goedit.AfterCall(fn, code.after))
		}
		var n setupNames
		var err error
		if n.manager, n.logger, err = m.managerAndLogger(f, anchors); err != nil {
			return err
		}
		if code.path != "" {
			n.local = f.ImportAt(code.alias, code.path, anchors...)
		}
		n.os = f.ImportAt("", "os", anchors...)
		return f.Insert(code.text(n), anchors...)
	}}
}

// setUp sets up a controller of r with the manager.
func setUp(c *project.Config, r project.Resource, controller string, m mainPackage) wiring {
	code := setupCode{alias: c.ControllerAlias(r), path: c.ControllerPath(r), text: func(n setupNames) string {
		return fmt.Sprintf(setupController, n.local, r.Reconciler(controller), n.manager, n.logger, c.ControllerName(r, controller), n.os)
	}}
	return wiring{done: func(f *goedit.File) bool { return f.Uses(code.path, r.Reconciler(controller)) }, add: m.addSetup(code)}
}

// wireSuite registers the types of r with client-go's scheme, which suites use.
func wireSuite(c *project.Config, r project.Resource, suite string, p *scaffold.Plan) error {
	if inClientScheme(r) {
		return nil
	}
	return source.Edit(p, suite, suiteSchemeEdit(c, r))
}

// suiteSchemeEdit returns an edit that makes a suite register the types of r.
func suiteSchemeEdit(c *project.Config, r project.Resource) func(*goedit.File) error {
	return func(f *goedit.File) error {
		types := c.APIPath(r)
		if f.Uses(types, "AddToScheme") {
			return nil
		}
		anchors := []goedit.Anchor{goedit.Marker("scheme"), goedit.AfterCall("BeforeSuite", "AddToScheme"), goedit.BeforeCall("BeforeSuite", "testEnv.Start")}
		api, scheme := f.ImportAt(r.ImportAlias(), types, anchors...), f.ImportAt("", clientScheme, anchors...)
		// kubebuilder looks for exactly these lines.
		lines := "err = %s.AddToScheme(%s.Scheme)\nExpect(err).NotTo(HaveOccurred())"
		if at := f.ScopeAt(anchors...); at != nil && !at.Variable("err") {
			lines = "Expect(%s.AddToScheme(%s.Scheme)).To(Succeed())"
		}
		return f.Insert(fmt.Sprintf(lines, api, scheme), anchors...)
	}
}
