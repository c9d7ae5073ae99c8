package golang

import (
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/libraries"
)

// libraryValues are the values by which templates choose code that fits the libraries and the Go
// version of the project.
type libraryValues struct {
	Has         libraries.Facts
	TestContext string // the expression for the context of a test
	Pointer     string // the function that returns a pointer to its argument
}

func libraryValuesOf(p *scaffold.Plan) (libraryValues, error) {
	facts, err := libraries.ReadFacts(p)
	v := libraryValues{Has: facts, TestContext: "t.Context()", Pointer: "new"}
	if !facts[libraries.Go124] {
		v.TestContext = "context.Background()"
	}
	if !facts[libraries.Go126] {
		v.Pointer = "ptr.To" // k8s.io/utils/ptr
	}
	return v, err
}
