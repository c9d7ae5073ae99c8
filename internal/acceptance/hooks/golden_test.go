//go:build testall

package hooks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestGoldenProjects runs the checks of a project's CI on every golden hook project.
func TestGoldenProjects(t *testing.T) {
	t.Parallel()
	operontest.ControlPlane(t)
	for _, name := range goldentest.Names(t) {
		if goldentest.IsGo(name) {
			continue // the package projects tests it
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if goldentest.HasCharts(name) { // the package golden has the other checks
				operontest.Run(t, goldentest.Dir(name), "chart", "test")
				return
			}
			checkProject(t, goldentest.Dir(name))
		})
	}
}

// checkProject validates and tests a project, in a copy, because hooks may write files.
func checkProject(t *testing.T, from string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	operontest.Run(t, dir, "hooks", "validate")
	operontest.Run(t, dir, "generate", "--check")
	if _, err := os.Stat(filepath.Join(dir, "modules")); err != nil { // modules have roles in their charts
		operontest.Run(t, dir, "hooks", "rbac", "--check")
	}
	operontest.Run(t, dir, "hooks", "test")
	if diff := treetest.Diff(treetest.Read(t, from), treetest.Read(t, dir)); diff != "" {
		t.Errorf("the checks change files (-before +after):\n%s", diff)
	}
}
