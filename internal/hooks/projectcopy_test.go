package hooks

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestCopyProject checks that only the copy changes, even if a hook is a link to a file
// outside the folder, or if it becomes a folder.
func TestCopyProject(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	shared := filepath.Join(root, "shared.sh")
	if err := os.MkdirAll(filepath.Join(root, "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{shared, filepath.Join(root, "hooks", "part")} {
		if err := os.WriteFile(name, []byte("original"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(shared, filepath.Join(root, "hooks", "linked.sh")); err != nil {
		t.Skip(err) // Windows may not allow it
	}
	content := map[string][]byte{"hooks/linked.sh": []byte("new"), "hooks/part": nil, "hooks/part/a.sh": []byte("inner"), "hooks/part/b.sh": []byte("inner")}
	s, err := CopyProject(root, "hooks", content, map[string]fs.FileMode{"hooks/linked.sh": 0o755, "hooks/part/a.sh": 0o755, "hooks/part/b.sh": 0o644})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, want := range map[string]string{filepath.Join(s.Dir(), "linked.sh"): "new", filepath.Join(s.Dir(), "part", "a.sh"): "inner", shared: "original"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
