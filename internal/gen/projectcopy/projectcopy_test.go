package projectcopy

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAbsolute keeps folders outside the project that replace modules, from within a copy.
func TestAbsolute(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const before = "module m\n\nreplace (\n\ta => ../a\n\tb => ./b\n\tc v1.0.0 => d v1.1.0\n)\n"
	got := string(absolute([]byte(before), root, root))
	for _, want := range []string{"a => " + filepath.ToSlash(filepath.Join(filepath.Dir(root), "a")), "b => ./b", "c v1.0.0 => d v1.1.0"} {
		if !strings.Contains(filepath.ToSlash(got), want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	if text := "no module"; string(absolute([]byte(text), root, root)) != text {
		t.Error("a file that is no go.mod changed")
	}
}
