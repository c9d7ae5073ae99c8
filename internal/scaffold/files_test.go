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
