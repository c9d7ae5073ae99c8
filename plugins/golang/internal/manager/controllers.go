package manager

import (
	"cmp"
	"fmt"
	"strings"

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

// Lines returns the lines that WireControllers adds, for hints.
func Lines(c *project.Config, r project.Resource) string {
	var lines string
	if !r.InClientScheme() {
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

// WireControllers registers the types of r with the manager's scheme, and sets up its
// controllers. It does not add code that exists in any form in any file.
func WireControllers(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	m, err := Read(c, p)
	if err != nil {
		return err
	}
	var controllers []wiring
	for _, name := range r.ControllerNames() {
		controllers = append(controllers, setUp(c, r, name, m))
	}
	return m.wireKind(c, r, controllers, Lines(c, r), p)
}

// setUp sets up a controller of r with the manager.
func setUp(c *project.Config, r project.Resource, controller string, m Package) wiring {
	code := setupCode{alias: c.ControllerAlias(r), path: c.ControllerPath(r), text: func(n setupNames) string {
		return controllerLines(c, r, controller, n)
	}}
	return wiring{done: func(f *goedit.File) bool { return f.Uses(code.path, r.Reconciler(controller)) }, add: m.addSetup(code)}
}
