package manager

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// setupController sets up a controller in the same form as kubebuilder, so that main.go
// stays uniform.
const setupController = `if err := (&%[1]s.%[2]s{
	Client: %[3]s.GetClient(),
	Scheme: %[3]s.GetScheme(),
}).SetupWithManager(%[3]s); err != nil {
%[4]s
}`

// controllerLines returns the lines that set up a controller of r.
func controllerLines(c *project.Config, r project.Resource, controller string, n setupNames) string {
	fails := n.fails("cannot set up the controller", "controller", c.ControllerName(r, controller))
	return fmt.Sprintf(setupController, n.local, r.Reconciler(controller), n.manager, indentLines(fails))
}

// Lines returns the lines that WireControllers adds to a program with the usual names, for hints.
func Lines(c *project.Config, r project.Resource) string {
	var m Package
	all := setUpAll(c, r, m)
	if !r.InClientScheme() {
		all = slices.Insert(all, 0, registration(c, r, m))
	}
	return usualLines(all)
}

// WireControllers registers the types of r with the manager's scheme, and sets up its
// controllers. It does not add code that exists in any form in any file.
func WireControllers(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	m, all, err := controllerWirings(c, r, p)
	if err != nil {
		return err
	}
	return m.wireAll(c, all, p)
}

// WarnControllers warns about the code that WireControllers would add.
func WarnControllers(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	m, all, err := controllerWirings(c, r, p)
	if err == nil {
		m.warnUnwired(all, p)
	}
	return err
}

func controllerWirings(c *project.Config, r project.Resource, p *scaffold.Plan) (Package, []wiring, error) {
	m, err := Read(c, p)
	if err != nil {
		return m, nil, err
	}
	all, err := m.registrations(c, r, p)
	return m, append(all, setUpAll(c, r, m)...), err
}

// setUpAll sets up all controllers of r with the manager.
func setUpAll(c *project.Config, r project.Resource, m Package) []wiring {
	var all []wiring
	for _, name := range r.ControllerNames() {
		all = append(all, setUp(c, r, name, m))
	}
	return all
}

// setUp sets up a controller of r with the manager.
func setUp(c *project.Config, r project.Resource, controller string, m Package) wiring {
	code := setupCode{alias: c.ControllerAlias(r), path: c.ControllerPath(r), text: func(n setupNames) string {
		return controllerLines(c, r, controller, n)
	}}
	name := cmp.Or(c.ControllerAlias(r), c.ControllerPackage(r))
	return wiring{
		marker: "builder",
		usual:  fmt.Sprintf("import %s %q\n", name, code.path) + controllerLines(c, r, controller, usualNames(name)),
		done:   func(f *goedit.File) bool { return f.Uses(code.path, r.Reconciler(controller)) },
		add:    m.addSetup(code),
	}
}
