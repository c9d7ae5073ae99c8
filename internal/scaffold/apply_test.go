package scaffold

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
)

func TestModes(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"script": "#!/bin/sh\n", "secret": "s", "readonly": "r", "plain": "p"})
	must(t, os.Chmod(filepath.Join(root, "secret"), 0o600))
	must(t, os.Chmod(filepath.Join(root, "readonly"), 0o444))
	must(t, os.Chmod(filepath.Join(root, "plain"), 0o777))
	p := newPlan(t, fsys, Options{})
	for _, name := range []string{"script", "secret", "readonly", "plain"} {
		must(t, p.Edit(name, func(b []byte) ([]byte, error) { return append(b, "x\n"...), nil }))
	}
	must(t, p.Seed("bin/new", 0o700, []byte("#!/bin/sh\n")))
	must(t, p.Seed("new", 0o600, []byte("x")))
	planned := map[string]fs.FileMode{}
	for _, c := range p.Changes() {
		planned[c.Path] = c.Mode
	}
	want := map[string]fs.FileMode{"script": 0o755, "secret": 0o600, "readonly": 0o444, "plain": 0o777, "bin/new": 0o755, "new": 0o644}
	same(t, "planned", want, planned)
	must(t, p.Apply(context.Background()))
	got := map[string]fs.FileMode{}
	for name := range want {
		info, err := os.Stat(filepath.Join(root, name))
		must(t, err)
		got[name] = info.Mode()
	}
	same(t, "modes", want, got)
}

// TestForcedScript checks that a script which replaces a file by force is
// executable for everyone who may read it.
func TestForcedScript(t *testing.T) {
	t.Parallel()
	for have, want := range map[fs.FileMode]fs.FileMode{0o644: 0o755, 0o600: 0o700, 0o755: 0o755} {
		root, fsys := project(t, map[string]string{"script": "text", "plain": "text"})
		must(t, os.Chmod(filepath.Join(root, "script"), have))
		p := newPlan(t, fsys, Options{Force: true})
		must(t, p.Seed("script", 0o755, []byte("#!/bin/sh\n")))
		must(t, p.Seed("plain", 0o644, []byte("x")))
		must(t, p.Apply(context.Background()))
		for name, mode := range map[string]fs.FileMode{"script": want, "plain": 0o644} {
			info, err := os.Stat(filepath.Join(root, name))
			must(t, err)
			same(t, fmt.Sprintf("mode of %s, which was %o", name, have), mode, info.Mode())
		}
	}
}

// TestChangedMeanwhile checks that a file that changes between plan and apply
// is not overwritten.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(t *testing.T, root string)
		want   string
	}{
		{"edited", func(t *testing.T, root string) { write(t, root, "update", "mine") }, "update changed while the command was running"},
		{"created", func(t *testing.T, root string) { write(t, root, "d/create", "mine") }, "d/create changed while the command was running"},
		{"deleted", func(t *testing.T, root string) { must(t, os.Remove(filepath.Join(root, "update"))) }, "update changed while the command was running"},
		{"edited, then deleted by the plan", func(t *testing.T, root string) { write(t, root, "delete", "mine") }, "delete changed while the command was running"},
		{"turned into a folder", func(t *testing.T, root string) {
			must(t, os.Remove(filepath.Join(root, "update")))
			write(t, root, "update/x", "mine")
		}, "update changed while the command was running"},
		{"file in place of a folder", func(t *testing.T, root string) { write(t, root, "d", "mine") }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, fsys := project(t, map[string]string{"update": "u", "delete": "d"})
			p := newPlan(t, fsys, Options{})
			must(t, p.Generate("g", "update", []byte("new")))
			must(t, p.Generate("g", "d/create", []byte("new")))
			must(t, p.Remove("delete"))
			tt.change(t, root)
			before := snapshot(t, root)
			err := p.Apply(context.Background())
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || fault.HintOf(err) == "" {
				t.Errorf("got %v, hint %q, want %s", err, fault.HintOf(err), tt.want)
			}
			same(t, "tree", before, snapshot(t, root))
		})
	}
}

// TestChangedWhileWriting checks that a file that changes after Apply compared its content, until the moment before
// it is replaced, is not overwritten, and that the files that were written before it are restored.
func TestChangedWhileWriting(t *testing.T) {
	t.Parallel()
	const (
		compared = "rename " + journalDir + "/000001/" + pendingFile // all contents are compared and flushed
		written  = "rename e/create"                                 // the files before it in the alphabet are in place
	)
	edit := func(name string) func(*testing.T, string) {
		return func(t *testing.T, root string) { write(t, root, name, "mine") }
	}
	tests := []struct {
		name   string
		before string // the operation before which the file changes
		change func(t *testing.T, root string)
		want   string // the file in the error
	}{
		{"edited", compared, edit("update"), "update"},
		{"edited later", written, edit("update"), "update"},
		{"edited, then deleted by the plan", compared, edit("delete"), "delete"},
		{"created", compared, edit("e/create"), "e/create"},
		{"created with its folder", compared, edit("d/create"), "d"},
		{"deleted", written, func(t *testing.T, root string) { must(t, os.Remove(filepath.Join(root, "update"))) }, "update"},
		{"another mode", written, func(t *testing.T, root string) { must(t, os.Chmod(filepath.Join(root, "update"), 0o600)) }, "update"},
		{"replaced by a file of the same size and time", written, func(t *testing.T, root string) {
			old, err := os.Stat(filepath.Join(root, "update"))
			must(t, err)
			dir := t.TempDir()
			write(t, dir, "x", "m")
			must(t, os.Chtimes(filepath.Join(dir, "x"), old.ModTime(), old.ModTime()))
			must(t, os.Rename(filepath.Join(dir, "x"), filepath.Join(root, "update")))
		}, "update"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := map[string]string{"update": "u", "delete": "d", "e/other": "o"}
			root, base := project(t, before)
			wanted, _ := project(t, before)
			tt.change(t, wanted)
			fsys := &faulty{Fs: base, hook: func(_ int, op string) {
				if op == tt.before {
					tt.change(t, root)
				}
			}}
			p := newPlan(t, fsys, Options{})
			must(t, p.Generate("g", "update", []byte("new")))
			must(t, p.Generate("g", "d/create", []byte("new")))
			must(t, p.Generate("g", "e/create", []byte("new")))
			must(t, p.Remove("delete"))
			err := p.Apply(t.Context())
			if err == nil || err.Error() != tt.want+" changed while the command was running" || fault.HintOf(err) != "repeat the command" {
				t.Errorf("got %v, hint %q", err, fault.HintOf(err))
			}
			same(t, "tree", snapshot(t, wanted), snapshot(t, root))
		})
	}
}

func TestForceKeepsTheOldContentInTheJournal(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{"api/x.go": "precious"})
	apply(t, fsys, Options{Force: true, Command: "operon create api --force"}, func(p *Plan) { seed(t, p, "api/x.go", "new") })
	var kept []string
	for name, n := range snapshot(t, filepath.Join(root, journalDir)) {
		if n.Content == "precious" {
			kept = append(kept, name)
		}
		if strings.Contains(name, stagedDir) {
			t.Errorf("%s is kept", name)
		}
	}
	if len(kept) != 1 || !strings.HasPrefix(kept[0], "000001/before/") {
		t.Errorf("the old content is at %q", kept)
	}
}

func TestJournalsArePruned(t *testing.T) {
	t.Parallel()
	root, fsys := project(t, map[string]string{".operon/journal/notes/x": "not operon's", ".operon/journal/7": "nor this"})
	for i := range keptJournals + 5 {
		apply(t, fsys, Options{}, func(p *Plan) { must(t, p.Generate("g", "a", fmt.Append(nil, i))) })
	}
	entries, err := os.ReadDir(filepath.Join(root, journalDir))
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) != keptJournals+2 || names[0] != "000006" || names[keptJournals-1] != "000025" {
		t.Errorf("journals: %q", names)
	}
}
