package load_test

import (
	"testing"

	"github.com/operon-dev/operon/internal/gen/load"
)

// TestProblem prints problems on one line, whatever the name of the file is.
func TestProblem(t *testing.T) {
	for want, p := range map[string]load.Problem{
		"api/v1/a.go:3:8: wrong":      {File: "api/v1/a.go", Line: 3, Column: 8, Message: "wrong"},
		"go.mod: wrong":               {File: "go.mod", Message: "wrong"},
		`"api/v1/a\nb.go":3:8: wrong`: {File: "api/v1/a\nb.go", Line: 3, Column: 8, Message: "wrong"},
		"wrong":                       {Message: "wrong"},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
