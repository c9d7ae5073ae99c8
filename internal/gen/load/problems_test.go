package load_test

import (
	"slices"
	"strings"
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

// TestProblemsAreLimited checks that one mistake in many places does not fill the screen.
func TestProblemsAreLimited(t *testing.T) {
	t.Parallel()
	all := make(load.Problems, 22)
	for i := range all {
		all[i] = load.Problem{File: "types.go", Line: i + 1, Column: 1, Message: "found float"}
	}
	lines := strings.Split(all.Error(), "\n")
	if got, want := lines[len(lines)-2:], []string{"types.go:20:1: found float", "and 2 more; --output json lists all"}; !slices.Equal(got, want) {
		t.Errorf("the last lines are %q, not %q", got, want)
	}
	if got := all[:20].Error(); strings.Contains(got, "more") {
		t.Errorf("20 problems are not all printed:\n%s", got)
	}
}
