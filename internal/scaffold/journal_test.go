package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/afero"
)

// diesAt is a file system on which every operation fails from one on.
func diesAt(fsys afero.Fs, op string) *faulty {
	f := &faulty{Fs: fsys, how: dead}
	f.hook = func(n int, now string) {
		if f.at == 0 && now == op {
			f.at = n
		}
	}
	return f
}

// killed returns a project in which a command was killed after its last file
// was in place and before it was committed.
func killed(t *testing.T) string {
	t.Helper()
	root, fsys := project(t, map[string]string{"update": "old", "delete": "old"})
	p := newPlan(t, diesAt(fsys, "rename "+journalPath(1)+"/"+finishedFile), Options{})
	must(t, p.Generate("g", "update", []byte("new")))
	must(t, p.Generate("g", "d/create", []byte("new")))
	must(t, p.Remove("delete"))
	if err := p.Apply(t.Context()); err == nil {
		t.Fatal("the command did not fail")
	}
	same(t, "killed", map[string]string{"update": "new", "d/create": "new"}, contents(t, root))
	return root
}

func TestRecover(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		user map[string]string // written after the kill; "" deletes
		want map[string]string
		kept string // the old content that the journal must still hold
	}{
		{"untouched", nil, map[string]string{"update": "old", "delete": "old"}, ""},
		{"an edited new file", map[string]string{"d/create": "mine"}, map[string]string{"update": "old", "delete": "old", "d/create": "mine"}, ""},
		{"an edited file", map[string]string{"update": "mine"}, map[string]string{"update": "mine", "delete": "old"}, "old"},
		{"restored by hand", map[string]string{"update": "old", "delete": "old"}, map[string]string{"update": "old", "delete": "old"}, ""},
		{"made again", map[string]string{"delete": "mine"}, map[string]string{"update": "old", "delete": "mine"}, "old"},
		{"deleted", map[string]string{"update": "", "d/create": ""}, map[string]string{"update": "old", "delete": "old"}, ""},
		{"a new file in the folder", map[string]string{"d/mine": "mine"}, map[string]string{"update": "old", "delete": "old", "d/mine": "mine"}, ""},
		{"a folder in its place", map[string]string{"d/create": "", "d/create/x": "mine"}, map[string]string{"update": "old", "delete": "old", "d/create/x": "mine"}, ""},
		{"emptied by a power failure", map[string]string{"d/create": "EMPTY"}, map[string]string{"update": "old", "delete": "old"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := killed(t)
			for _, name := range []string{"update", "delete", "d/create", "d/create/x", "d/mine"} {
				content, ok := tt.user[name]
				if !ok {
					continue
				}
				must(t, ignoreMissing(os.Remove(filepath.Join(root, name))))
				switch content {
				case "":
				case "EMPTY":
					write(t, root, name, "")
				default:
					write(t, root, name, content)
				}
			}
			_, err := New(baseFs(root), Options{})
			if err == nil || err.Error() != "an interrupted command left the project half written (.operon/journal/000001)" {
				t.Errorf("new: %v", err)
			}
			did, err := Recover(baseFs(root))
			if !did || err != nil {
				t.Fatalf("recover: %v, %v", did, err)
			}
			same(t, "files", tt.want, contents(t, root))
			kept := map[string]node{}
			if _, err := os.Stat(filepath.Join(root, journalDir)); err == nil {
				kept = snapshot(t, filepath.Join(root, journalDir))
			}
			found := ""
			for name, n := range kept {
				if strings.Contains(name, beforeDir+"/") {
					found = n.Content
				}
			}
			same(t, "kept", tt.kept, found)
			newPlan(t, baseFs(root), Options{})
		})
	}
}

// TestRecoverLeavesWhatWasNotPlaced checks that Recover does not remove a file
// that was never put in place, even if it is empty as after a power failure.
func TestRecoverLeavesWhatWasNotPlaced(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, nil)
	p := newPlan(t, diesAt(fsys, "rename a"), Options{})
	must(t, p.Generate("g", "a", []byte("new")))
	if err := p.Apply(t.Context()); err == nil {
		t.Fatal("the command did not fail")
	}
	write(t, root, "a", "")
	_, err := Recover(fsys)
	must(t, err)
	same(t, "files", map[string]string{"a": ""}, contents(t, root))
}

func TestRecoverNothing(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"a": "x"})
	for range 2 {
		before := snapshot(t, root)
		did, err := Recover(fsys)
		if did || err != nil {
			t.Errorf("recover: %v, %v", did, err)
		}
		same(t, "tree", before, snapshot(t, root))
		apply(t, fsys, Options{}, func(p *Plan) { seed(t, p, "b", "y") })
	}
}

// TestRecoverTrustsNoRecord checks that a record cannot name a path outside of
// the project, in .git or in the journal: a repository with a journal is not
// trusted.
func TestRecoverTrustsNoRecord(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../victim", "/victim", "link/victim", "hooks/pre-commit", ".git/hooks/pre-commit", ".operon/journal/000001/x", ".operon/../../victim", ".operon", ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			root := filepath.Join(top, "root")
			write(t, top, "root/link", "-> ..")
			write(t, top, "root/hooks", "-> .git/hooks")
			write(t, top, "root/.git/hooks/x", "x")
			dir := "root/" + journalPath(1)
			write(t, top, dir+"/before/0000", "evil")
			write(t, top, dir+"/pending.json", `{"version":1,"steps":[{"path":"`+name+`","op":"delete","before":"x"}]}`)
			before := snapshot(t, top)
			did, err := Recover(baseFs(root))
			if name == ".operon" { // a folder, which no step replaces
				return
			}
			if did || err == nil || !strings.Contains(err.Error(), "is damaged") || fault.HintOf(err) == "" {
				t.Errorf("recover: %v, %v", did, err)
			}
			same(t, "tree", before, snapshot(t, top))
		})
	}
}

func TestRecoverDamagedRecord(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"", "{", `{"version":2,"steps":[]}`} {
		root, fsys := project(t, map[string]string{journalPath(3) + "/pending.json": src, "a": "x"})
		before := snapshot(t, root)
		if did, err := Recover(fsys); did || err == nil {
			t.Errorf("%q: %v, %v", src, did, err)
		}
		same(t, "tree", before, snapshot(t, root))
	}
}

// TestFailedRollback checks that the next command restores what a failed
// rollback could not.
func TestFailedRollback(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"update": "old"})
	before := snapshot(t, root)
	p := newPlan(t, diesAt(fsys, "rename z"), Options{})
	must(t, p.Generate("g", "update", []byte("new")))
	must(t, p.Generate("g", "z", []byte("new")))
	err := p.Apply(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "the project is half written: ") || !strings.Contains(fault.HintOf(err), "000001") {
		t.Errorf("got %v, hint %q", err, fault.HintOf(err))
	}
	if cmp.Equal(before, snapshot(t, root)) {
		t.Error("the command wrote nothing")
	}
	_, err = Recover(fsys)
	must(t, err)
	same(t, "tree", before, snapshot(t, root))
}
