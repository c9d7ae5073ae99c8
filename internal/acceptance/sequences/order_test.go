package sequences

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestAnyOrder creates three kinds in every order. Each tree passes go vet, which compiles
// its tests, too, and has the same files.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	kinds := [][]string{
		{"--kind", "Frigate"},
		{"--kind", "Type", "--namespaced=false"},
		{"--kind", "Person", "--controller=false"},
	}
	var first []string
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		dir := filepath.Join(t.TempDir(), "fleet")
		treetest.MakeDir(t, dir)
		operontest.Run(t, dir, "init", "--domain", "example.org", "--repo", "example.org/fleet")
		for _, i := range order {
			args := append([]string{"create", "api", "--group", "ship", "--version", "v1", "--make=false"}, kinds[i]...)
			operontest.Run(t, dir, args...)
			if out := operontest.Run(t, dir, args...); out != "nothing to do\n" {
				t.Errorf("order %v: a repeat of %v:\n%s", order, kinds[i], out)
			}
		}
		operontest.Run(t, dir, "generate")
		projecttest.GoCommand(t, dir, "vet", "./...")
		var files []string
		for name := range treetest.Read(t, dir) {
			files = append(files, name)
		}
		slices.Sort(files)
		if first == nil {
			first = files
		}
		if !slices.Equal(first, files) {
			t.Errorf("order %v results in other files:\n%s", order, strings.Join(files, "\n"))
		}
	}
}
