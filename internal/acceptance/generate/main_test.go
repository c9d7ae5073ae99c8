package generate

import (
	"os"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
)

// TestMain enables cgo, as on most machines: files that import "C" then belong to their packages. Nothing is compiled.
func TestMain(m *testing.M) {
	if err := os.Setenv("CGO_ENABLED", "1"); err != nil {
		panic(err)
	}
	os.Exit(operontest.Main(m))
}
