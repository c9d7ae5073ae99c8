package scaffold

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKeepGenerated keeps generated files by their records, without reading
// them.
func TestKeepGenerated(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	apply(t, fsys, Options{}, func(p *Plan) {
		for _, name := range []string{"a", "b", "c"} {
			must(t, p.Generate("g", name, []byte(name)))
		}
	})
	write(t, root, "a", "unread")
	before := snapshot(t, root)
	p := newPlan(t, fsys, Options{})
	must(t, p.KeepGenerated("g", "a", hash([]byte("a"))))
	must(t, p.KeepGenerated("g", "b", hash([]byte("b"))))
	must(t, p.Generate("g", "c", []byte("c")))
	if err := p.KeepGenerated("g", "a", hash([]byte("unread"))); err == nil {
		t.Error("kept with content that differs from the record")
	}
	if err := p.KeepGenerated("h", "a", hash([]byte("a"))); err == nil {
		t.Error("kept as the file of another generator")
	}
	if err := p.KeepGenerated("g", "new", hash([]byte("a"))); err == nil {
		t.Error("kept without a record")
	}
	same(t, "changes", []string{}, list(p))
	same(t, "generated", []Target{{"a", "a"}, {"b", "b"}, {"c", "c"}}, p.Generated())
	must(t, p.Apply(t.Context()))
	same(t, "tree", before, snapshot(t, root))

	p = newPlan(t, fsys, Options{})
	must(t, p.KeepGenerated("g", "b", hash([]byte("b"))))
	must(t, p.Remove("b"))
	same(t, "generated, one removed", []Target(nil), p.Generated())
	same(t, "removed", []string{"delete generated b"}, list(p))
}

// TestOnDisk detects files on disk that the plan does not change.
func TestOnDisk(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"foreign": "x", "dir/x": "x"})
	apply(t, fsys, Options{}, func(p *Plan) {
		for _, name := range []string{"read", "same", "edited", "removed", "gone"} {
			must(t, p.Generate("g", name, []byte(name)))
		}
	})
	must(t, os.Remove(filepath.Join(root, "gone")))
	p := newPlan(t, fsys, Options{})
	if _, err := p.Read("read"); err != nil {
		t.Fatal(err)
	}
	must(t, p.Generate("g", "same", []byte("same")))
	must(t, p.Generate("g", "edited", []byte("other")))
	must(t, p.Remove("removed"))
	for name, want := range map[string]bool{
		"foreign": true, "read": true, "same": true,
		"edited": false, "removed": false, "gone": false, "dir": false, "../out": false, ".operon/generated.json": false,
	} {
		if got := p.OnDisk(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestGenerateShared lets a generator take over a new shared file, and no existing one.
func TestGenerateShared(t *testing.T) {
	t.Parallel()
	_, fsys := project(t, map[string]string{"old": "users"})
	p := newPlan(t, fsys, Options{})
	must(t, p.Share("new", 0o644, []byte("start")))
	must(t, p.Share("old", 0o644, []byte("start")))
	must(t, p.Generate("g", "new", []byte("generated")))
	same(t, "changes", []string{"create generated new"}, list(p))
	if err := p.Generate("g", "old", []byte("generated")); err == nil || err.Error() != "old is planned as a shared and as a generated file" {
		t.Errorf("got %v", err)
	}
}

// TestRemoveStale removes what a generator no longer makes, unless the user changed it.
func TestRemoveStale(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"users": "x"})
	apply(t, fsys, Options{}, func(p *Plan) {
		for _, name := range []string{"made", "old", "edited", "gone"} {
			must(t, p.Generate("g", name, []byte("x")))
		}
		must(t, p.Generate("h", "other", []byte("x")))
	})
	write(t, root, "edited", "mine")
	must(t, os.Remove(filepath.Join(root, "gone")))
	p := newPlan(t, fsys, Options{})
	must(t, p.RemoveStale("g", func(path string) bool { return path == "made" }))
	same(t, "changes", []string{"delete generated old"}, list(p))
	if w := p.Warnings(); len(w) != 1 || w[0].File != "edited" || w[0].Rule != "stale-edited" {
		t.Errorf("warnings: %v", w)
	}
}
