package scaffold

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	good := []string{"a", "a/b", ".gitignore", ".github/workflows/x.yml", ".golangci.yml", "a/.operon/b", "a..b", ".operonrc", "über/datei"}
	for _, name := range good {
		if err := checkName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	bad := []string{"", ".", "..", "/a", "../a", "a/../b", "a/..", "./a", "a/", "a//b", `a\b`, "a\x00b", "a\xff",
		".git", ".git/config", ".GIT/config", "sub/.git/hooks/pre-commit", ".operon", ".operon/base/x", ".Operon/x"}
	for _, name := range bad {
		if err := checkName(name); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}

// TestLinks plans one file through each link. want is the resulting path, or an
// error that starts with "!".
func TestLinks(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, outside, "secret", "secret")
	tests := []struct {
		name  string
		files map[string]string
		path  string
		want  string
	}{
		{"folder link inside", map[string]string{"real/x": "x", "link": "-> real"}, "link/f", "real/f"},
		{"file link inside", map[string]string{"real/f": "f", "link": "-> real/f"}, "link", "real/f"},
		{"dangling link inside", map[string]string{"link": "-> new/f"}, "link", "new/f"},
		{"link of a link, upward", map[string]string{"a/b/link": "-> ../two", "a/two": "-> ../real", "real/x": ""}, "a/b/link/f", "real/f"},
		{"absolute inside", map[string]string{"real/x": "x", "link": "-> ROOT/real"}, "link/f", "real/f"},
		{"folder link outside", map[string]string{"link": "-> OUTSIDE"}, "link/f", "!link leaves the project root through a symbolic link"},
		{"file link outside", map[string]string{"link": "-> OUTSIDE/secret"}, "link", "!link leaves the project root through a symbolic link"},
		{"dangling outside", map[string]string{"link": "-> OUTSIDE/new"}, "link", "!link leaves the project root through a symbolic link"},
		{"relative outside", map[string]string{"d/link": "-> ../../x"}, "d/link/f", "!d/link/f leaves the project root through a symbolic link"},
		{"out behind a missing folder", map[string]string{"link": "-> missing/../out/f", "out": "-> OUTSIDE"}, "link", "!link leaves the project root through a symbolic link"},
		{"loop", map[string]string{"a": "-> b", "b": "-> a"}, "a/f", `!path "a/f" has too many symbolic links`},
		{"into .git", map[string]string{".git/config": "", "link": "-> .git"}, "link/config", `!path ".git/config" is in .git, which no plan may change`},
		{"into the state", map[string]string{"link": "-> .operon"}, "link/generated.json", `!path ".operon/generated.json" is in .operon, which no plan may change`},
		{"to the root", map[string]string{"d/link": "-> .."}, "d/link", "!d/link is a folder, not a file"},
		{"below a file", map[string]string{"a": "x"}, "a/f", "!a is a file, so it cannot contain a/f"},
		{"a folder", map[string]string{"a/x": "x"}, "a", "!a is a folder, not a file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, fsys := project(t, nil)
			for name, content := range tt.files {
				write(t, root, name, strings.NewReplacer("OUTSIDE", outside, "ROOT", root).Replace(content))
			}
			before := snapshot(t, root)
			p := newPlan(t, fsys, Options{})
			err := p.Generate("g", tt.path, []byte("new"))
			if want, ok := strings.CutPrefix(tt.want, "!"); ok {
				if err == nil || !strings.HasSuffix(err.Error(), want) {
					t.Errorf("got %v, want %s", err, want)
				}
				same(t, "tree", before, snapshot(t, root))
				return
			}
			must(t, err)
			must(t, p.Apply(context.Background()))
			info, err := os.Lstat(filepath.Join(root, tt.want))
			must(t, err)
			b, err := os.ReadFile(filepath.Join(root, tt.want))
			must(t, err)
			if !info.Mode().IsRegular() || string(b) != "new" {
				t.Errorf("%s is %v %q", tt.want, info.Mode(), b)
			}
			same(t, "again", []string{}, apply(t, fsys, Options{}, func(p *Plan) {
				must(t, p.Generate("g", tt.path, []byte("new")))
			}))
		})
	}
	same(t, "outside", map[string]string{"secret": "secret"}, contents(t, outside))
}

// TestRemoveLink checks that Remove deletes a link and not its target.
func TestRemoveLink(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"real/f": "f", "link": "-> real/f"})
	apply(t, fsys, Options{}, func(p *Plan) { must(t, p.Remove("link")) })
	same(t, "files", map[string]string{"real/f": "f"}, contents(t, root))
}

func TestOneFileUnderTwoNames(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"real/f": "f", "link": "-> real"})
	before := snapshot(t, root)
	p := newPlan(t, fsys, Options{})
	must(t, p.Generate("g", "link/f", []byte("1")))
	must(t, p.Generate("g", "real/f", []byte("2")))
	if err := p.Apply(context.Background()); err == nil || err.Error() != "two planned paths are the same file, real/f" {
		t.Errorf("got %v", err)
	}
	same(t, "tree", before, snapshot(t, root))
}

func TestFileAndFolderInOnePlan(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	p := newPlan(t, fsys, Options{})
	seed(t, p, "a", "1")
	seed(t, p, "a/b", "2")
	if err := p.Apply(context.Background()); err == nil || err.Error() != "a is planned as a file, so it cannot contain a/b" {
		t.Errorf("got %v", err)
	}
	same(t, "tree", map[string]string{}, contents(t, root))
}

// TestStateLinks checks that state behind a symbolic link is rejected before
// anything is read from it.
func TestStateLinks(t *testing.T) {
	t.Parallel()
	for _, link := range []string{stateDir, baseFile, journalDir, recordsFile} {
		t.Run(link, func(t *testing.T) {
			t.Parallel()
			root, fsys := project(t, map[string]string{"elsewhere/x": "x", link: "-> " + strings.Repeat("../", strings.Count(link, "/")) + "elsewhere"})
			before := snapshot(t, root)
			p, err := New(fsys, Options{})
			if err == nil {
				err = p.Seed("a", 0, []byte("a"))
			}
			if err == nil {
				t.Error("the link is followed")
			}
			if link == stateDir || link == journalDir {
				if _, err := Recover(fsys); err == nil {
					t.Error("recover follows the link")
				}
			}
			same(t, "tree", before, snapshot(t, root))
		})
	}
}

func FuzzPaths(f *testing.F) {
	for _, name := range []string{"a/b", "../a", "link/x", "up/x", "/etc/passwd", "link/../../x", ".git/x"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		top := t.TempDir()
		root := filepath.Join(top, "root")
		write(t, top, "root/real/x", "x")
		must(t, os.Symlink("real", filepath.Join(root, "link")))
		must(t, os.Symlink("..", filepath.Join(root, "up")))
		p := newPlan(t, afero.NewBasePathFs(afero.NewOsFs(), root), Options{})
		if p.Generate("g", name, []byte("new")) == nil {
			_ = p.Apply(context.Background())
		}
		for file := range contents(t, top) {
			if !strings.HasPrefix(file, "root/") {
				t.Errorf("%q writes %s", name, file)
			}
		}
	})
}
