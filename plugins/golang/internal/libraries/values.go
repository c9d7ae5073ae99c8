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
}

// ReadValues reads the values from the go.mod in a plan.
func ReadValues(p *scaffold.Plan) (Values, error) {
	facts, err := readFacts(p)
	v := Values{Has: facts, TestContext: "t.Context()", Pointer: "new"}
	if !facts[Go124] {
		v.TestContext = "context.Background()"
	}
	if !facts[Go126] {
		v.Pointer = "ptr.To" // k8s.io/utils/ptr
	}
	return v, err
}
