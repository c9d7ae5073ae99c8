//go:build testall

package projects

import (
	"testing"

	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
)

// TestGoldenProjects builds, vets and tests every golden project in Go, on a real API server. go.mod and the formatting
// are final.
func TestGoldenProjects(t *testing.T) {
	t.Parallel()
	for _, name := range goldentest.Names(t) {
		if !goldentest.IsGo(name) {
			continue // the package hooks tests it
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			projecttest.Check(t, goldentest.Dir(name))
		})
	}
}
