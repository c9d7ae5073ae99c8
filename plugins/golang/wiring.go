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

// setupController is the form in which other tools of this layout add
// controllers too, so that main.go stays even.
const setupController = `if err := (&%[1]s.%[2]s{
	Client: %[3]s.GetClient(),
	Scheme: %[3]s.GetScheme(),
}).SetupWithManager(%[3]s); err != nil {
	%[4]s.Error(err, "cannot set up the controller", "controller", %[5]q)
	%[6]s.Exit(1)
}`

// mainLines are the lines that wireMain adds, for a person to add them.
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

// wiring is one thing that the manager's main package does for a kind.
type wiring struct {
	done func(*goedit.File) bool    // a file does it already, in whatever form
	add  []func(*goedit.File) error // ways to make a file do it, the preferred first
}

// wireMain registers the types of r with the manager's scheme, and sets its
// controllers up. What is there already, in whatever form and file, stays.
func wireMain(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	m, err := readMain(p)
	if err != nil {
		return err
	}
	var controllers []wiring
	for _, name := range r.ControllerNames() {
		controllers = append(controllers, setUp(c, r, name, m))
	}
	return m.wireKind(c, r, controllers, mainLines(c, r), p)
}

// wireKind registers the types of r with the manager's scheme, and adds what else
// the manager does for r. Where one place is missing, the error gives all the
// lines, for others may be missing too.
func (m mainPackage) wireKind(c *project.Config, r project.Resource, wirings []wiring, lines string, p *scaffold.Plan) error {
	if !inClientScheme(r) {
		wirings = slices.Insert(wirings, 0, registration(c, r, m))
	}
	for _, w := range wirings {
		if err := m.wire(w, p); err != nil {
			return &fault.Error{Code: fault.Code(err), Err: err,
				Hint: "add these lines by hand where they belong, then run the command again:\n" + lines}
		}
	}
	return nil
}

// registration makes the types of r known to the manager's scheme, best where
// others are.
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

// setUp starts a controller of r with the manager.
func setUp(c *project.Config, r project.Resource, controller string, m mainPackage) wiring {
	controllers := c.ControllerPath(r)
	return wiring{
		done: func(f *goedit.File) bool { return f.Uses(controllers, r.Reconciler(controller)) },
		add: []func(*goedit.File) error{func(f *goedit.File) error {
			anchors := builderAnchors(f)
			manager, logger, err := m.managerAndLogger(f, anchors)
			if err != nil {
				return err
			}
			local, exit := f.ImportAt(c.ControllerAlias(r), controllers, anchors...), f.ImportAt("", "os", anchors...)
			return f.Insert(fmt.Sprintf(setupController, local, r.Reconciler(controller), manager, logger, c.ControllerName(r, controller), exit), anchors...)
		}},
	}
}

// wireSuite registers the types of r with the scheme of a suite, which is client-go's.
func wireSuite(c *project.Config, r project.Resource, suite string, p *scaffold.Plan) error {
	if inClientScheme(r) {
		return nil
	}
	return source.Edit(p, suite, registerInSuite(c, r))
}

// registerInSuite makes a suite's file register the types of r.
func registerInSuite(c *project.Config, r project.Resource) func(*goedit.File) error {
	return func(f *goedit.File) error {
		types := c.APIPath(r)
		if f.Uses(types, "AddToScheme") {
			return nil
		}
		anchors := []goedit.Anchor{goedit.Marker("scheme"), goedit.AfterCall("BeforeSuite", "AddToScheme"), goedit.BeforeCall("BeforeSuite", "testEnv.Start")}
		api, scheme := f.ImportAt(r.ImportAlias(), types, anchors...), f.ImportAt("", clientScheme, anchors...)
		// Other tools of this layout look for these very lines.
		lines := "err = %s.AddToScheme(%s.Scheme)\nExpect(err).NotTo(HaveOccurred())"
		if at := f.ScopeAt(anchors...); at != nil && !at.Variable("err") {
			lines = "Expect(%s.AddToScheme(%s.Scheme)).To(Succeed())"
		}
		return f.Insert(fmt.Sprintf(lines, api, scheme), anchors...)
	}
}
