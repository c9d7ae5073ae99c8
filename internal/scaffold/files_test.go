package scaffold

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{
		"top.txt": "x", "api/a.go": "a", "api/gone.go": "b", "api/deep/c.go": "c", "plain": "x",
	})
	for name, target := range map[string]string{"api/link.go": "a.go", "api/out.go": "/etc/hostname", "api/broken.go": "nothing", "apis": "api"} {
		must(t, os.Symlink(target, filepath.Join(root, name)))
	}
	p := newPlan(t, fsys, Options{})
	seed(t, p, "api/new.go", "n")
	seed(t, p, "fresh/new.go", "n")
	must(t, p.Remove("api/gone.go"))
	if _, err := p.Read("api/missing.go"); err == nil {
		t.Error("read a missing file")
	}
	for dir, want := range map[string][]string{
		"api":   {"a.go", "link.go", "new.go"},
		"apis":  {"a.go", "gone.go", "link.go"}, // planned under another name
		"fresh": {"new.go"},
		"none":  nil,
		".":     {"plain", "top.txt"},
	} {
		got, err := p.Files(dir)
		must(t, err)
		same(t, dir, want, got)
	}
	for _, dir := range []string{"../x", "/etc", ".operon", "plain"} {
		if got, err := p.Files(dir); err == nil {
			t.Errorf("%s: got %v, want an error", dir, got)
		}
	}
}

func TestBefore(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"theirs": "1"})
	apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "ours", "1") })
	write(t, root, "ours", "2")
	p := newPlan(t, fsys, Options{Force: true})
	seed(t, p, "ours", "3")
	for path, want := range map[string][]string{"ours": {"2", "1"}, "theirs": {"1", ""}, "none": {"", ""}} {
		disk, base, err := p.Before(path)
		must(t, err)
		same(t, path, want, []string{string(disk), string(base)})
	}
	if !p.Seeded("ours") || p.Seeded("theirs") || p.Seeded("none") || !p.Forced() {
		t.Error("Seeded or Forced is wrong")
	}
}

// TestDiscard checks that files of the user stay, and that other line endings are no change.
func TestDiscard(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		content string
		gone    bool
	}{{"a\nb\n", true}, {"a\r\nb\r\n", true}, {"a\nc\n", false}} {
		root, fsys := project(t, nil)
		apply(t, fsys, Options{}, func(p *Plan) {
			seed(t, p, "x/one", "1\n")
			seed(t, p, "x/two", "a\nb\n")
		})
		must(t, os.WriteFile(filepath.Join(root, "x/two"), []byte(tt.content), 0o644))
		p := newPlan(t, baseFs(root), Options{})
		must(t, p.Discard(map[string][]byte{"x/one": nil, "x/two": nil, "x/three": nil}))
		if p.Exists("x/one") == tt.gone || p.Exists("x/two") == tt.gone || len(p.Warnings()) > 0 == tt.gone {
			t.Errorf("%q: %v, warnings %v", tt.content, list(p), p.Warnings())
		}
	}
	_, fsys := project(t, map[string]string{"theirs": "", "shared": "1\n"})
	p := newPlan(t, fsys, Options{})
	must(t, p.Discard(map[string][]byte{"theirs": nil}))
	must(t, p.Discard(map[string][]byte{"shared": []byte("1\n")}))
	if !p.Exists("theirs") || p.Exists("shared") {
		t.Error("only a file with the given content has no base and goes")
	}
}
