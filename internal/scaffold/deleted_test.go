package scaffold

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
)

// deleted returns a project whose files the user deleted.
func deleted(t *testing.T) (root string, fill func(*Plan)) {
	t.Helper()
	root, fsys := project(t, nil)
	fill = func(p *Plan) {
		seed(t, p, "cmd/main.go", main1)
		must(t, p.Seed("hack/run.sh", 0o755, []byte("#!/bin/sh\n")))
		seed(t, p, "hack/notes", "notes\n")
	}
	apply(t, fsys, Options{}, fill)
	must(t, os.RemoveAll(filepath.Join(root, "cmd")))
	must(t, os.RemoveAll(filepath.Join(root, "hack")))
	return root, fill
}

// TestDeleted checks that files which the user deleted stay deleted, also with Force, and
// that their bases follow the templates.
func TestDeleted(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{}, {Force: true}} {
		root, fill := deleted(t)
		p := newPlan(t, baseFs(root), o)
		fill(p)
		must(t, p.Edit("cmd/main.go", appendLine("two")))
		same(t, "changes", []string{}, list(p))
		same(t, "deleted", []string{"cmd/main.go", "hack/notes", "hack/run.sh"}, p.Deleted())
		must(t, p.Apply(t.Context()))
		same(t, "files", map[string]string{}, contents(t, root))
		same(t, "restored", []string{"create seeded cmd/main.go"}, apply(t, baseFs(root), Options{Restore: []string{"cmd"}}, fill))
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		paths []string
		want  []string
	}{
		{[]string{"hack/run.sh"}, []string{"create seeded hack/run.sh"}},
		{[]string{"./hack/", "cmd/main.go"}, []string{"create seeded cmd/main.go", "create seeded hack/notes", "create seeded hack/run.sh"}},
		{[]string{"."}, []string{"create seeded cmd/main.go", "create seeded hack/notes", "create seeded hack/run.sh"}},
	} {
		root, fill := deleted(t)
		o := Options{Restore: tt.paths}
		same(t, "without a seed", tt.want, list(newPlan(t, baseFs(root), o)))
		same(t, "changes", tt.want, apply(t, baseFs(root), o, fill))
		if info, err := os.Stat(filepath.Join(root, "hack/run.sh")); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("hack/run.sh: %v, %v", info, err)
		}
		same(t, "a repeat", []string{}, apply(t, baseFs(root), o, fill))
	}
	root, _ := deleted(t)
	for _, path := range []string{"no", "cmd/main", "../cmd", ""} {
		if _, err := New(baseFs(root), Options{Restore: []string{path + "/x"}}); err == nil || fault.HintOf(err) == "" {
			t.Errorf("--restore %s: %v", path, err)
		}
	}
}

// TestRestoreAndEdit checks that a command which edits a deleted file says how to restore
// it, and that the edit then applies.
func TestRestoreAndEdit(t *testing.T) {
	t.Parallel()
	root, _ := deleted(t)
	err := newPlan(t, baseFs(root), Options{}).Edit("cmd/main.go", appendLine("two"))
	if !errors.Is(err, fs.ErrNotExist) || fault.HintOf(err) != "repeat the command with --restore cmd/main.go, or move its code back there" {
		t.Errorf("got %v (%s)", err, fault.HintOf(err))
	}
	same(t, "changes", []string{"create seeded cmd/main.go"}, apply(t, baseFs(root), Options{Restore: []string{"cmd/main.go"}}, func(p *Plan) {
		must(t, p.Edit("cmd/main.go", appendLine("two")))
	}))
	same(t, "base", storedBase(t, root, "cmd/main.go"), contents(t, root)["cmd/main.go"])
}

// TestAdds checks that a command creates the files that it adds for the first time, and
// only those, although an earlier command had written them.
func TestAdds(t *testing.T) {
	t.Parallel()
	root, fill := deleted(t)
	same(t, "changes", []string{"create seeded hack/notes"}, apply(t, baseFs(root), Options{}, func(p *Plan) {
		p.Adds(func(path string) bool { return path == "hack/notes" })
		fill(p)
	}))
}
