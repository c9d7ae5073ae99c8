package projecttest

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// ownCache gives the test a cache of its own.
func ownCache(t *testing.T) {
	t.Helper()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} { // each system reads one of them
		t.Setenv(name, t.TempDir())
	}
}

// original is a project that a test copies.
type original struct {
	*testing.T
	dir string
}

func newOriginal(t *testing.T) original {
	t.Helper()
	ownCache(t)
	o := original{t, filepath.Join(t.TempDir(), "fleet")}
	o.put(o.dir, "go.mod", "module fleet\n", 0o644)
	o.put(o.dir, "hack/run.sh", "#!/bin/sh\n", 0o755)
	o.put(o.dir, "bin/manager", "built", 0o755)
	return o
}

func (o original) put(dir, name, content string, mode os.FileMode) {
	o.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		o.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		o.Fatal(err)
	}
}

// copy returns the StableCopy.
func (o original) copy(more ...string) string {
	o.Helper()
	dir, bin, err := StableCopy(o.dir, more...)
	if err != nil {
		o.Fatal(err)
	}
	if info, err := os.Stat(bin); err != nil || !info.IsDir() || filepath.Base(dir) != "fleet" {
		o.Errorf("%s, %s: %v", dir, bin, err)
	}
	return dir
}

func (o original) read(dir, name string) (string, os.FileInfo) {
	o.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	content, err := os.ReadFile(name)
	if err != nil {
		o.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		o.Fatal(err)
	}
	return string(content), info
}

// TestStableCopy copies a project several times. Equal projects have the same copy.
func TestStableCopy(t *testing.T) {
	o := newOriginal(t)
	first := o.copy()
	content, before := o.read(first, "hack/run.sh")
	if content != "#!/bin/sh\n" || before.Mode()&0o100 == 0 || time.Since(before.ModTime()) < 3*time.Second {
		t.Errorf("%q %v %v", content, before.Mode(), before.ModTime())
	}
	if _, err := os.Stat(filepath.Join(first, "bin")); err == nil {
		t.Error("the copy has binaries of the original")
	}

	o.put(o.dir, "hack/run.sh", "#!/bin/sh\n", 0o755) // with the same content, but a new time
	if second := o.copy(); second != first {
		t.Errorf("the first copy is %s, and the second %s", first, second)
	}
	if _, after := o.read(first, "hack/run.sh"); !after.ModTime().Equal(before.ModTime()) {
		t.Error("the copy has another time")
	}

	o.put(first, "go.mod", "module changed\n", 0o644)
	if third := o.copy(); third != first {
		t.Errorf("the first copy is %s, and the third %s", first, third)
	}
	if content, _ := o.read(first, "go.mod"); content != "module fleet\n" {
		t.Errorf("go.mod is %q", content)
	}
}

// TestStableCopyInputs copies different projects, and one project with another input.
func TestStableCopyInputs(t *testing.T) {
	o := newOriginal(t)
	first := o.copy()
	o.put(o.dir, "go.mod", "module other\n", 0o644)
	second := o.copy()
	third := o.copy("other programs")
	if first == second || first == third || second == third {
		t.Errorf("two of three copies are the same: %s, %s, %s", first, second, third)
	}
	places, err := os.ReadDir(filepath.Dir(filepath.Dir(first)))
	if err != nil || len(places) != 3 {
		t.Errorf("there are the copies %v: %v", places, err)
	}
}

// TestStableCopyOld removes copies that were not used for long.
func TestStableCopyOld(t *testing.T) {
	o := newOriginal(t)
	first := o.copy()
	long := time.Now().Add(-30 * 24 * time.Hour)
	if err := os.Chtimes(filepath.Dir(first), long, long); err != nil {
		t.Fatal(err)
	}
	if second := o.copy(); second != first {
		t.Errorf("the first copy is %s, and the second %s", first, second)
	}
	o.read(first, "go.mod")
	if err := os.Chtimes(filepath.Dir(first), long, long); err != nil {
		t.Fatal(err)
	}
	o.put(o.dir, "go.mod", "module other\n", 0o644)
	o.copy()
	if _, err := os.Stat(first); err == nil {
		t.Error("an old copy still exists")
	}
}

// TestStableCopyConcurrent copies a project several times at once, after the copy was changed.
// Each caller gets a complete copy.
func TestStableCopyConcurrent(t *testing.T) {
	ownCache(t)
	from := filepath.Join(t.TempDir(), "fleet")
	if err := os.CopyFS(from, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	want, err := read(from)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				dir, _, err := StableCopy(from)
				if err != nil {
					t.Error(err)
					return
				}
				if have, err := read(dir); err != nil || !maps.Equal(have, want) {
					t.Errorf("%d files: %v", len(have), err)
				}
			})
		}
		all.Wait()
		dir, _, err := StableCopy(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "changed"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPrune keeps the most recently used copies up to a size, and all that may be in use.
func TestPrune(t *testing.T) {
	t.Parallel()
	all, now := t.TempDir(), time.Now()
	for name, idle := range map[string]time.Duration{"a": 0, "b": inUse / 2, "c": 2 * inUse, "d": 3 * inUse, "e": 2 * maxIdle} {
		dir := filepath.Join(all, name)
		if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "bin", "manager"), make([]byte, 100), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, now.Add(-idle), now.Add(-idle)); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		most int64
		stay string
	}{{1000, "abcd"}, {300, "abc"}, {50, "ab"}} {
		prune(all, now, step.most)
		var names []string
		entries, err := os.ReadDir(all)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if stay := strings.Join(names, ""); stay != step.stay {
			t.Errorf("with at most %d bytes, %q stay, want %q", step.most, stay, step.stay)
		}
	}
}
