package scaffold

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestContaining finds texts in files on disk and in the plan, as they will be after Apply.
func TestContaining(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{
		"a.go": "word", "b.go": "other", "c.txt": "word", "deep/er/d.go": "a word", "removed.go": "word", "changed.go": "word", ".git/e.go": "word",
	})
	must(t, os.Symlink("a.go", filepath.Join(root, "link.go")))
	p := newPlan(t, fsys, Options{})
	must(t, p.Share("new.go", 0o644, []byte("word")))
	must(t, p.Remove("removed.go"))
	must(t, p.Edit("changed.go", func([]byte) ([]byte, error) { return []byte("other"), nil }))
	must(t, p.Edit("b.go", func([]byte) ([]byte, error) { return []byte("word"), nil }))
	found, err := p.Containing(".go", "word")
	if diff := cmp.Diff([]string{"a.go", "b.go", "deep/er/d.go", "new.go"}, found); diff != "" || err != nil {
		t.Errorf("found (-want +got): %v\n%s", err, diff)
	}
	p.DependsOn(func() ([]string, bool) { return nil, true })
	in, _ := p.Inputs()
	for _, name := range []string{"a.go", "deep/er/d.go"} { // a later run searches again if one of them changed
		if !slices.Contains(in.Looked, name) {
			t.Errorf("%s is no input", name)
		}
	}
}
