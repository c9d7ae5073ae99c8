package golang

import (
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/libraries"
)

// An operand is what the controller of a kind deploys: a Deployment with an image. Its controller owns
// Deployments and has a finalizer, as with --owns and --finalizer, but with the whole code.

// operandValues are the template values of an operand.
type operandValues struct {
	Variable string   // of the manager's environment, with the image
	Words    []string // the command, or nil for the command of the image
	Port     bool     // the spec has the port
	User     string   // a number, or ""
}

// readOperand returns the recorded operand of r, or nil. PROJECT is validated.
func readOperand(c *project.Config, r project.Resource) (*operandValues, error) {
	o, ok := c.Operand(r)
	if !ok {
		return nil, nil //nolint:nilnil // templates test the pointer
	}
	if err := c.CheckOperand(r); err != nil {
		return nil, err
	}
	v := &operandValues{Variable: c.ImageVariable(r), Port: o.ContainerPort != "", User: o.RunAsUser}
	var err error
	if o.ContainerCommand != "" {
		v.Words, err = o.Words()
	}
	return v, err
}

// isOwnController reports whether operon writes or wrote the controller of r with a name. Those of
// another tool, such as kubebuilder, have their own code for the operand.
func isOwnController(c *project.Config, r project.Resource, name string, p *scaffold.Plan) bool {
	file := c.ReconcilerFile(r, name)
	return p.Seeded(file) || p.HasBase(file)
}

// eventPackage returns the name of the package below k8s.io/client-go/tools with the recorder of events
// that the project's controller-runtime provides.
func eventPackage(has libraries.Facts) string {
	if has["EventRecorder"] {
		return "events"
	}
	return "record"
}
