package load

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScan checks which modules below a folder belong to the project.
func TestScan(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"go.mod", "tools/go.mod", "deep/tools/go.mod", ".x/go.mod", "_x/go.mod", "testdata/go.mod", "vendor/a/go.mod",
		"node_modules/a/go.mod", "a/third_party/b/go.mod", "cache/mod/example.net@v1.0.0/go.mod", "worktree/.git", "worktree/go.mod", "clone/.git/HEAD", "clone/go/go.mod"} {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string][]string{".": {"deep/tools", "tools"}, "deep": {"deep/tools"}, "cache": nil, "worktree": {"worktree"}, "node_modules": {"node_modules/a"}} {
		others, err := scan(root, root, NewFolder(root, "./"+from+"/..."), filepath.Join(root, "cache", "mod"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, dir := range others.below {
			rel, _ := filepath.Rel(root, dir)
			got = append(got, filepath.ToSlash(rel))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", from, diff)
		}
	}
}
