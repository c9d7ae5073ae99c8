//go:build unix && testall

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestExternalPlugin checks that a plugin for kubebuilder writes the same files in both programs.
func TestExternalPlugin(t *testing.T) {
	t.Setenv("EXTERNAL_PLUGINS_PATH", repository.Path("testdata", "plugins", "kubebuilder"))
	kubebuilder := newPeer(t)
	theirs := t.TempDir()
	kubebuilder.must(t, theirs, "init", "--domain", "example.org", "--repo", "example.org/fleet", "--project-name", "fleet",
		"--plugins", "go/v4,handbook/v1", "--team", "crew", "--skip-go-version-check", "--fetch-deps=false")
	ours := t.TempDir()
	if err := os.CopyFS(ours, os.DirFS(theirs)); err != nil {
		t.Fatal(err)
	}
	config := t.TempDir()
	for _, args := range [][]string{
		{"edit", "--plugins", "handbook/v1", "--team", "others"},
		{"edit", "--plugins", "handbook/v1", "--team", "sailors"},
		{"edit", "--plugins", "handbook/v1", "--team", "crew"},
		{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--resource", "--controller", "--make=false", "--author", "Ada"},
	} {
		kubebuilder.must(t, theirs, args...)
		cmd := exec.Command("operon", append(args, "--yes", "--make=false")...)
		cmd.Dir, cmd.Env = ours, operontest.Environ("XDG_CONFIG_HOME="+config)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("operon %v: %v\n%s", args, err, out)
		}
		for _, name := range []string{"handbook/README.md", "handbook/page1.md", "handbook/print.sh", "handbook/frigate.md", "Makefile"} {
			if name == "handbook/frigate.md" && args[0] == "edit" {
				continue // the page of a kind comes later
			}
			if diff := cmp.Diff(treetest.ReadFile(t, filepath.Join(theirs, name)), treetest.ReadFile(t, filepath.Join(ours, name))); diff != "" {
				t.Errorf("%v: %s (-kubebuilder +operon):\n%s", args, name, diff)
			}
		}
	}
}
