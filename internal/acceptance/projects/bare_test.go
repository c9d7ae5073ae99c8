//go:build testall

package projects

import (
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestBareProject builds and tests a project without kinds.
func TestBareProject(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "fleet")
	treetest.MakeDir(t, dir)
	operontest.Run(t, dir, "init", "--domain", "example.org", "--repo", "example.org/fleet")
	projecttest.Check(t, dir)
}
