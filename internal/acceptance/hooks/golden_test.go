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
	for _, name := range goldentest.Names(t) {
		if goldentest.IsGo(name) || goldentest.HasCharts(name) {
			continue // the packages projects and golden test it
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
