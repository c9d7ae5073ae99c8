package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
)

// fake is a source of simulated events.
type fake struct {
	folders map[string]bool
	full    error // what Add says below the root

	events chan fsnotify.Event
	errors chan error
}

func (f *fake) Add(folder string) error {
	if f.full != nil && len(f.folders) > 0 {
		return f.full
	}
	f.folders[folder] = true
	return nil
}

func (f *fake) Remove(folder string) error { delete(f.folders, folder); return nil }
func (f *fake) Close() error               { return nil }

// faked watches a folder on the disk with simulated events.
func faked(t *testing.T, root string) (*Watcher, *fake) {
	t.Helper()
	f := &fake{folders: map[string]bool{}, events: make(chan fsnotify.Event), errors: make(chan error)}
	w := &Watcher{root: root, counts: IsSource, source: f, events: f.events, errors: f.errors}
	must(t, w.start())
	return w, f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		file := filepath.Join(root, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte("x"), 0o600))
	}
}

// TestBurst sends events at times of a fake clock, and checks which events are reported
// together, and when.
func TestBurst(t *testing.T) {
	t.Parallel()
	type event struct {
		after time.Duration // the one before
		op    fsnotify.Op
		name  string
	}
	const ms = time.Millisecond
	var busy []event
	for range 40 {
		busy = append(busy, event{30 * ms, fsnotify.Write, "log.go"})
	}
	var checkout []event
	for i := range 300 {
		checkout = append(checkout, event{0, fsnotify.Write, fmt.Sprintf("api/v%d_types.go", i)})
	}
	for _, tc := range []struct {
		name   string
		events []event
		want   []string // when, and what; a long list by its length
	}{
		{"vim: the old file away, a new one, its mode", []event{
			{0, fsnotify.Create, "4913"}, {1 * ms, fsnotify.Remove, "4913"},
			{1 * ms, fsnotify.Rename, "a.go"}, {1 * ms, fsnotify.Create, "a.go"}, {0, fsnotify.Write, "a.go"}, {2 * ms, fsnotify.Chmod, "a.go"},
		}, []string{"53ms [a.go]"}},
		{"swap files and a write elsewhere", []event{
			{0, fsnotify.Create, ".a.go.swp"}, {1 * ms, fsnotify.Write, "a.go~"}, {1 * ms, fsnotify.Create, ".#a.go"},
			{1 * ms, fsnotify.Create, "a.go___jb_tmp___"}, {1 * ms, fsnotify.Write, "README.md"}, {1 * ms, fsnotify.Write, "a.go"},
		}, []string{"55ms [a.go]"}},
		{"a mode alone", []event{{0, fsnotify.Chmod, "a.go"}, {60 * ms, fsnotify.Write, "b.go"}}, []string{"110ms [b.go]"}},
		{"noise does not make a change longer", []event{
			{0, fsnotify.Write, "a.go"}, {30 * ms, fsnotify.Write, "x.log"}, {30 * ms, fsnotify.Write, "x.log"},
		}, []string{"50ms [a.go]"}},
		{"two saves at once", []event{{0, fsnotify.Write, "a.go"}, {30 * ms, fsnotify.Write, "b.go"}}, []string{"80ms [a.go b.go]"}},
		{"two saves", []event{{0, fsnotify.Write, "a.go"}, {51 * ms, fsnotify.Write, "b.go"}}, []string{"50ms [a.go]", "101ms [b.go]"}},
		{"a checkout", checkout, []string{"50ms 300"}},
		{"written all the time", busy, []string{
			"530ms [log.go]", "1.04s [log.go]", "1.25s [log.go]",
		}},
		{"modes count: a mode alone", []event{{0, fsnotify.Chmod, "a.go"}, {60 * ms, fsnotify.Write, "b.go"}}, []string{"50ms []", "110ms [b.go]"}},
		{"modes count: a file, and its mode", []event{{0, fsnotify.Create, "a.go"}, {20 * ms, fsnotify.Chmod, "a.go"}}, []string{"70ms [a.go]"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w, f := faked(t, root)
				w.Modes = strings.HasPrefix(tc.name, "modes count")
				ctx, cancel := context.WithCancel(t.Context())
				start := time.Now()
				go func() {
					for _, e := range tc.events {
						time.Sleep(e.after)
						f.events <- fsnotify.Event{Op: e.op, Name: filepath.Join(root, filepath.FromSlash(e.name))}
					}
					time.Sleep(time.Second)
					cancel()
				}()
				var got []string
				for {
					paths, err := w.Next(ctx)
					if err != nil {
						break
					}
					what := fmt.Sprint(paths)
					if len(paths) > 5 {
						what = fmt.Sprint(len(paths))
					}
					got = append(got, fmt.Sprint(time.Since(start), " ", what))
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		})
	}
}

// TestLost simulates a system that loses events. New folders must be found nevertheless.
func TestLost(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w, f := faked(t, root)
		put(t, root, "api/v1/a.go")
		go func() { f.errors <- fsnotify.ErrEventOverflow }()
		paths, err := w.Next(t.Context())
		must(t, err)
		if want := []string{Everything, "api/v1/a.go"}; !slices.Equal(paths, want) || w.Folders() != 3 {
			t.Errorf("%q, %d folders", paths, w.Folders())
		}
	})
}

// TestEnd tests how a watch ends.
func TestEnd(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	broken := errors.New("broken")
	for _, tc := range []struct {
		name string
		do   func(*fake, context.CancelCauseFunc)
		want error
	}{
		{"cancelled", func(_ *fake, cancel context.CancelCauseFunc) { cancel(context.DeadlineExceeded) }, context.DeadlineExceeded},
		{"the root removed", func(f *fake, _ context.CancelCauseFunc) { f.events <- fsnotify.Event{Op: fsnotify.Remove, Name: root} }, ErrGone},
		{"the root renamed", func(f *fake, _ context.CancelCauseFunc) { f.events <- fsnotify.Event{Op: fsnotify.Rename, Name: root} }, ErrGone},
		{"an error", func(f *fake, _ context.CancelCauseFunc) { f.errors <- broken }, broken},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, f := faked(t, root)
			ctx, cancel := context.WithCancelCause(t.Context())
			go tc.do(f, cancel)
			if paths, err := w.Next(ctx); !errors.Is(err, tc.want) {
				t.Errorf("%s: %q, %v", tc.name, paths, err)
			}
		})
	}
}

// TestLimit simulates a system that cannot watch more folders.
func TestLimit(t *testing.T) {
	t.Parallel()
	for err, setting := range map[error]string{
		syscall.ENOSPC: "fs.inotify.max_user_watches", syscall.EMFILE: "fs.inotify.max_user_watches", syscall.ENFILE: "ulimit -n",
	} {
		root := t.TempDir()
		put(t, root, "api/v1/a.go")
		f := &fake{folders: map[string]bool{}, full: &os.SyscallError{Syscall: "inotify_add_watch", Err: err}}
		w := &Watcher{root: root, counts: IsSource, source: f}
		got := w.start()
		if got == nil || strings.Contains(got.Error(), err.Error()) || !strings.Contains(fault.HintOf(got), setting) {
			t.Errorf("%v: %v, hint %q", err, got, fault.HintOf(got))
		}
	}
	root := t.TempDir()
	put(t, root, "secret/a.go", "b.go")
	f := &fake{folders: map[string]bool{}, full: syscall.EACCES}
	w := &Watcher{root: root, counts: IsSource, source: f}
	if err := w.start(); err != nil || w.Folders() != 1 {
		t.Errorf("an unreadable folder: %v, %d folders", err, w.Folders())
	}
}

// TestDisk watches real folders.
func TestDisk(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, root, "api/v1/a.go", "bin/tool.go", ".git/index.go", "web/node_modules/x/x.go", "vendor/modules.txt", "vendor/x/x.go", "cmd/bin/main.go")
	other := t.TempDir()
	put(t, other, "deep/er/b.go", "deep/notes.md")
	w, err := Open(root, IsSource)
	must(t, err)
	defer w.Close()
	// The root, api, api/v1, web, vendor, cmd, cmd/bin.
	if w.Folders() != 7 {
		t.Errorf("%d folders", w.Folders())
	}
	path := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	for i, step := range []struct {
		name    string
		do      func() error
		want    []string
		folders int
	}{
		{"write", func() error { return os.WriteFile(path("api/v1/a.go"), []byte("y"), 0o600) }, []string{"api/v1/a.go"}, 7},
		{"rename over it", func() error {
			put(t, root, "api/v1/.a.go.tmp")
			return os.Rename(path("api/v1/.a.go.tmp"), path("api/v1/a.go"))
		}, []string{"api/v1/a.go"}, 7},
		{"a new package", func() error { put(t, root, "api/v2/deep/b.go"); return nil }, []string{"api/v2/deep/b.go"}, 9},
		{"a file in it", func() error { put(t, root, "api/v2/deep/c.go"); return nil }, []string{"api/v2/deep/c.go"}, 9},
		{"packages that come at once", func() error { return os.Rename(filepath.Join(other, "deep"), path("api/v3")) }, []string{"api/v3/er/b.go"}, 11},
		{"a folder renamed", func() error { return os.Rename(path("api/v3"), path("api/v4")) }, []string{"api/v3/", "api/v4/er/b.go"}, 11},
		{"a file in it", func() error { put(t, root, "api/v4/er/b.go"); return nil }, []string{"api/v4/er/b.go"}, 11},
		{"all of it removed", func() error { return os.RemoveAll(path("api/v4")) }, []string{"api/v4/"}, 9},
		{"vendored anew", func() error { put(t, root, "vendor/y/y.go", "vendor/modules.txt"); return nil }, []string{"vendor/modules.txt"}, 9},
		{"what does not count", func() error {
			put(t, root, "bin/x.go", ".git/x.go", "web/node_modules/y/y.go", "README.md", ".hidden/x.go", "go.mod")
			return nil
		}, []string{"go.mod"}, 9},
	} {
		must(t, step.do())
		got := until(t, w, root, fmt.Sprintf("end%d.go", i))
		if diff := cmp.Diff(step.want, got); diff != "" || w.Folders() != step.folders {
			t.Fatalf("%s: %d folders, -want +got:\n%s", step.name, w.Folders(), diff)
		}
	}
	must(t, os.RemoveAll(root))
	for {
		paths, err := w.Next(t.Context())
		if errors.Is(err, ErrGone) {
			break
		}
		must(t, err)
		if len(paths) == 0 {
			t.Fatal("a change is reported although nothing changed")
		}
	}
}

// until returns what changed before the file last is created, which a slow machine may
// report in several parts.
func until(t *testing.T, w *Watcher, root, last string) []string {
	t.Helper()
	put(t, root, last)
	changed := map[string]bool{}
	for !changed[last] {
		paths, err := w.Next(t.Context())
		must(t, err)
		for _, p := range paths {
			changed[p] = true
		}
	}
	maps.DeleteFunc(changed, func(p string, _ bool) bool { return strings.HasPrefix(p, "end") })
	return slices.Sorted(maps.Keys(changed))
}

// TestAlso watches folders that are not below the root.
func TestAlso(t *testing.T) {
	t.Parallel()
	root, near, far := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, near, "a.go", "below/b.go")
	w, err := Open(root, IsSource)
	must(t, err)
	defer w.Close()
	rel := func(dir, name string) string {
		path, err := filepath.Rel(root, dir)
		must(t, err)
		return filepath.ToSlash(path) + name
	}
	must(t, w.Also([]string{near, far, filepath.Join(near, "missing")}))
	if w.Folders() != 3 {
		t.Errorf("%d folders", w.Folders())
	}
	put(t, near, "a.go", "below/b.go", "new/c.go", "notes.md")
	put(t, far, "d.go")
	want := []string{rel(near, "/a.go"), rel(far, "/d.go")}
	slices.Sort(want)
	if diff := cmp.Diff(want, until(t, w, root, "end0.go")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	must(t, w.Also([]string{near}))
	put(t, far, "d.go")
	must(t, os.RemoveAll(near))
	if diff := cmp.Diff([]string{rel(near, "/")}, until(t, w, root, "end1.go")); diff != "" || w.Folders() != 1 {
		t.Errorf("%d folders, -want +got:\n%s", w.Folders(), diff)
	}
}

func TestIsSource(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"main.go": true, "api/v1/a_types.go": true, "api/v1/a_test.go": false, "go.mod": true, "tools/go.sum": true, "go.work": true,
		"vendor/modules.txt": true, "api/v1/c.h": true, "api/.#a.go": false, "_off.go": false, "a.go~": false, ".go": false,

		"config/crd/bases/x.yaml": false, "Makefile": false, "#a.go#": false,
	} {
		if got := IsSource(file); got != want {
			t.Errorf("%s: %t", file, got)
		}
	}
}
