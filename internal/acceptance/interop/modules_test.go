//go:build unix && testall

package interop

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// moduleCache returns a module cache that has links to the modules that scaffolded projects require,
// and no others. For an import that a file lacks, kubebuilder reads all folders of the cache: in one with
// the modules of all tests, this takes seconds for each file.
func moduleCache(t *testing.T) string {
	t.Helper()
	name := filepath.Join(goldentest.Dir("fleet"), "go.mod")
	project, err := modfile.Parse(name, []byte(treetest.ReadFile(t, name)), nil)
	if err != nil {
		t.Fatal(err)
	}
	from, to := operontest.GoEnv("GOMODCACHE"), t.TempDir()
	folders := []string{"cache"}
	for _, r := range project.Require {
		path, err := module.EscapePath(r.Mod.Path)
		if err != nil {
			t.Fatal(err)
		}
		version, err := module.EscapeVersion(r.Mod.Version)
		if err != nil {
			t.Fatal(err)
		}
		folders = append(folders, filepath.FromSlash(path)+"@"+version)
	}
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(from, folder)); err != nil {
			t.Fatalf("%v (make modules downloads it)", err)
		}
		treetest.MakeDir(t, filepath.Dir(filepath.Join(to, folder)))
		if err := os.Symlink(filepath.Join(from, folder), filepath.Join(to, folder)); err != nil {
			t.Fatal(err)
		}
	}
	return to
}
