package scaffold

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
)

func TestMove(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	apply(t, fsys, Options{}, func(p *Plan) {
		seed(t, p, "api/v1/types.go", main1)
		seed(t, p, "api/v1/gone.go", "deleted by the user\n")
		must(t, p.Generate("object", "api/v1/zz.go", []byte("generated\n")))
		must(t, p.Generate("object", "api/v1/zz_edited.go", []byte("generated\n")))
	})
	must(t, os.Remove(filepath.Join(root, "api/v1/gone.go")))
	write(t, root, "api/v1/types.go", "// mine\n"+main1)
	write(t, root, "api/v1/zz_edited.go", "mine\n")
	write(t, root, "api/v1/sub/mine.sh", "#!/bin/sh\n")
	must(t, os.Chmod(filepath.Join(root, "api/v1/sub/mine.sh"), 0o750))

	done := apply(t, fsys, Options{}, func(p *Plan) {
		must(t, moveFolder(p, "api/v1", "api/ship/v1"))
		must(t, p.Edit("api/ship/v1/types.go", appendLine("one")))
		seed(t, p, "api/ship/v1/types.go", main1)
		must(t, p.Edit("api/ship/v1/types.go", appendLine("one")))
		seed(t, p, "api/ship/v1/gone.go", "deleted by the user\n")
		if p.Exists("api/v1/types.go") || p.Exists("api/ship/v1/gone.go") || !p.HasBase("api/ship/v1/gone.go") {
			t.Error("the plan does not use the new paths")
		}
		seed(t, p, "api/ship/v1/new.go", "new\n")
	})
	same(t, "plan", []string{
		"create seeded api/ship/v1/new.go",
		"move shared api/ship/v1/sub/mine.sh",
		"move seeded api/ship/v1/types.go",
		"move generated api/ship/v1/zz.go",
		"move shared api/ship/v1/zz_edited.go",
	}, done)
	same(t, "files", map[string]string{
		"api/ship/v1/types.go":     "// mine\n" + strings.Replace(main1, "// here", "one\n// here", 1),
		"api/ship/v1/zz.go":        "generated\n",
		"api/ship/v1/zz_edited.go": "mine\n",
		"api/ship/v1/sub/mine.sh":  "#!/bin/sh\n",
		"api/ship/v1/new.go":       "new\n",
	}, contents(t, root))
	nodes := snapshot(t, root, journalDir)
	if mode := nodes["api/ship/v1/sub/mine.sh"].Mode; mode != 0o750 {
		t.Errorf("the moved file has mode %v", mode)
	}
	if _, there := nodes["api/v1"]; there {
		t.Error("the empty folder is still there")
	}
	if newPlan(t, fsys, Options{}).HasBase("api/v1/types.go") {
		t.Error("the base is still at the old path")
	}
	same(t, "base", strings.Replace(main1, "// here", "one\n// here", 1), storedBase(t, root, "api/ship/v1/types.go"))
	same(t, "base of what the user deleted", "deleted by the user\n", storedBase(t, root, "api/ship/v1/gone.go"))
	same(t, "records", []Recorded{{Path: "api/ship/v1/zz.go", Generator: "object", SHA256: hash([]byte("generated\n"))}}, newPlan(t, fsys, Options{}).Recorded())

	same(t, "and back", []string{
		"move shared api/v1/sub/mine.sh",
		"move generated api/v1/zz.go",
	}, apply(t, fsys, Options{}, func(p *Plan) {
		must(t, moveFolder(p, "api/ship/v1/sub", "api/v2/sub")) // the second step of one move
		must(t, moveFolder(p, "api/v2/sub", "api/v1/sub"))
		must(t, p.Move("api/ship/v1/zz.go", "api/v1/zz.go"))
	}))
}

// TestUsersEmptyFolder checks that recovery after a finished command keeps an empty
// folder that the user made where the command had removed one.
func TestUsersEmptyFolder(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"api/v1/x.go": "x"})
	apply(t, fsys, Options{}, func(p *Plan) { must(t, moveFolder(p, "api", "pkg")) })
	must(t, os.MkdirAll(filepath.Join(root, "api/v1"), 0o755))
	if did, err := Recover(fsys); did || err != nil {
		t.Errorf("recovered: %v, %v", did, err)
	}
	if _, err := os.Stat(filepath.Join(root, "api/v1")); err != nil {
		t.Error(err)
	}
}

// TestReadBelow reads a folder with files that are planned, deleted and linked.
func TestReadBelow(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"a/old": "old", "a/stays": "stays", "b/c/d": "d", "a/link": "-> ../b/c/d", "other/x": "x"})
	p := newPlan(t, fsys, Options{})
	must(t, p.Remove("a/old"))
	seed(t, p, "a/sub/new", "new")
	files, err := p.ReadBelow("a")
	must(t, err)
	want := map[string]string{"stays": "stays", "sub/new": "new", "link": "d"}
	got := map[string]string{}
	for name, content := range files {
		got[name] = string(content)
	}
	same(t, "files", want, got)
	write(t, root, "a/folder", "-> ../b/c")
	if _, err := newPlan(t, fsys, Options{}).ReadBelow("a"); err == nil || err.Error() != "a/folder is a link to the folder b/c, not a file" || fault.HintOf(err) == "" {
		t.Errorf("a link to a folder: %v", err)
	}
}

// TestCopy checks that a copy gets the content and the base of the original,
// and that a file the user deleted stays deleted in each copy.
func TestCopy(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	apply(t, fsys, Options{}, func(p *Plan) {
		seed(t, p, "a/types.go", main1)
		seed(t, p, "a/gone.go", "deleted by the user\n")
	})
	must(t, os.Remove(filepath.Join(root, "a/gone.go")))
	write(t, root, "a/types.go", "// mine\n"+main1)
	done := apply(t, fsys, Options{}, func(p *Plan) {
		must(t, moveFolder(p, "a", "b"))
		for _, name := range []string{"types.go", "gone.go"} {
			must(t, p.Copy("b/"+name, "c/"+name))
		}
		must(t, p.Edit("c/types.go", appendLine("one")))
		seed(t, p, "c/gone.go", "deleted by the user\n")
		if err := p.Copy("b/types.go", "c/types.go"); err == nil || !strings.Contains(err.Error(), "the file exists") {
			t.Errorf("a copy over a file: %v", err)
		}
	})
	same(t, "plan", []string{"move seeded b/types.go", "create seeded c/types.go"}, done)
	same(t, "files", map[string]string{
		"b/types.go": "// mine\n" + main1,
		"c/types.go": "// mine\n" + strings.Replace(main1, "// here", "one\n// here", 1),
	}, contents(t, root))
	same(t, "base", main1, storedBase(t, root, "b/types.go"))
	same(t, "base of the copy", strings.Replace(main1, "// here", "one\n// here", 1), storedBase(t, root, "c/types.go"))
	same(t, "base of what the user deleted", "deleted by the user\n", storedBase(t, root, "c/gone.go"))
}

// TestMoveConflict checks that conflicts of a moved file are reported with its
// new path.
func TestMoveConflict(t *testing.T) {
	t.Parallel()
	_, fsys := project(t, map[string]string{"a": "mine\n"})
	p := newPlan(t, fsys, Options{})
	must(t, p.Move("a", "b"))
	seed(t, p, "b", "operon's\n")
	same(t, "plan", []string{"conflict seeded b"}, list(p))
	same(t, "origin", "a", p.Changes()[0].From)
}

func TestMoveRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		from, to string
		want     string
	}{
		{"nothing there", "no", "b", "no: file does not exist"},
		{"target exists", "a", "dir/x", "a cannot be moved to dir/x: the file exists"},
		{"target is planned", "a", "planned", "a cannot be moved to planned: the file exists"},
		{"target was deleted, and is operon's", "a", "deleted", "a cannot be moved to deleted: the file exists"},
		{"case only", "a", "A", "a cannot be moved to A: many file systems ignore case"},
		{"link", "link", "b", "link cannot be moved: its path has a symbolic link"},
		{"below a link", "folder/x", "b", "folder/x cannot be moved: its path has a symbolic link"},
		{"seeded in this plan", "planned", "b", "planned is moved after it is seeded"},
		{"a folder", "dir", "b", "dir is a folder, not a file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, fsys := project(t, map[string]string{"a": "x", "dir/x": "y", "link": "-> a", "folder": "-> dir"})
			apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "deleted", "z") })
			must(t, os.Remove(filepath.Join(root, "deleted")))
			p := newPlan(t, fsys, Options{})
			seed(t, p, "planned", "p")
			err := p.Move(tt.from, tt.to)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if tt.from == "no" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v is not fs.ErrNotExist", err)
			}
			same(t, "plan", []string{"create seeded planned"}, list(p))
		})
	}
}

// moveFolder moves all files below a folder.
func moveFolder(p *Plan, from, to string) error {
	names, err := p.Below(from)
	for _, name := range names {
		err = errors.Join(err, p.Move(name, to+strings.TrimPrefix(name, from)))
	}
	return err
}

func TestBelow(t *testing.T) {
	t.Parallel()
	_, fsys := project(t, map[string]string{"a/x": "x", "a/b/link": "-> x", "a/.git/config": "git", "other": "y", "a/b/gone": "z"})
	p := newPlan(t, fsys, Options{})
	must(t, p.Remove("a/b/gone"))
	must(t, p.Share("a/b/new", 0, nil))
	names, err := p.Below("a")
	must(t, err)
	same(t, "below a", []string{"a/b/link", "a/b/new", "a/x"}, names)
	names, err = p.Below("missing")
	must(t, err)
	if len(names) > 0 {
		t.Errorf("below a missing folder: %q", names)
	}
	if _, err := p.Below("other"); err == nil || err.Error() != "other is not a folder" {
		t.Errorf("below a file: %v", err)
	}
}

// TestSeedInAnotherOrder seeds lines in another order than the commands that
// added them, because that order is not recorded.
func TestSeedInAnotherOrder(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "main.go", "a\nb\nc\n"); seed(t, p, "Makefile", "a\nb\nc\n") })
	write(t, root, "main.go", "a\nb\nmine\nc\n")
	same(t, "plan", []string{"keep seeded main.go"}, apply(t, fsys, Options{}, func(p *Plan) {
		seed(t, p, "main.go", "b\na\nc\n")
		seed(t, p, "Makefile", "b\na\nc\n")
	}))
	same(t, "base", "a\nb\nc\n", storedBase(t, root, "main.go"))
	same(t, "a line more", []string{"update seeded Makefile", "keep seeded main.go"}, apply(t, fsys, Options{}, func(p *Plan) {
		seed(t, p, "Makefile", "b\na\nc\nc\n")
		seed(t, p, "main.go", "b\na\nc\n")
	}))
}
