package libraries

import (
	"github.com/operon-dev/operon/internal/scaffold"
)

// Values let templates choose code that fits the libraries and the Go
// version of the project.
type Values struct {
	Has         Facts
	TestContext string // the expression for the context of a test
	Pointer     string // the function that returns a pointer to its argument

	have versions // in go.mod
}

// ReadValues reads the values from the go.mod in a plan.
func ReadValues(p *scaffold.Plan) (Values, error) {
	have, err := readVersions(p)
	v := Values{Has: factsOf(have), TestContext: "t.Context()", Pointer: "new", have: have}
	if !v.Has[Go124] {
		v.TestContext = "context.Background()"
	}
	if !v.Has[Go126] {
		v.Pointer = "ptr.To" // k8s.io/utils/ptr
	}
	return v, err
}
