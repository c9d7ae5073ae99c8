package manager

import (
	"cmp"
	"fmt"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
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

// setUpAll sets up all controllers of r with the manager.
func setUpAll(c *project.Config, r project.Resource, m managerPackage) []wiring {
	var all []wiring
	for _, name := range r.ControllerNames() {
		all = append(all, setUp(c, r, name, m))
	}
	return all
}

// setUp sets up a controller of r with the manager.
func setUp(c *project.Config, r project.Resource, controller string, m managerPackage) wiring {
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
