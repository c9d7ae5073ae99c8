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

// TestSettle settles a project again and again.
func TestSettle(t *testing.T) {
	ownCache(t)
	from := filepath.Join(t.TempDir(), "fleet")
	put := func(dir, name, content string, mode os.FileMode) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	settle := func() string {
		t.Helper()
		dir, bin, err := Settle(from)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(bin); err != nil || !info.IsDir() || filepath.Base(dir) != "fleet" {
			t.Errorf("%s, %s: %v", dir, bin, err)
		}
		return dir
	}
	look := func(dir, name string) (string, os.FileInfo) {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(content), info
	}
	put(from, "go.mod", "module fleet\n", 0o644)
	put(from, "hack/run.sh", "#!/bin/sh\n", 0o755)
	put(from, "bin/manager", "built", 0o755)
	first := settle()
	content, before := look(first, "hack/run.sh")
	if content != "#!/bin/sh\n" || before.Mode()&0o100 == 0 || time.Since(before.ModTime()) < 3*time.Second {
		t.Errorf("%q %v %v", content, before.Mode(), before.ModTime())
	}
	if _, err := os.Stat(filepath.Join(first, "bin")); err == nil {
		t.Error("the copy has binaries of the original")
	}
	put(from, "hack/run.sh", "#!/bin/sh\n", 0o755) // with the same content, but a new time
	if again := settle(); again != first {
		t.Errorf("the first copy is %s, and the second %s", first, again)
	}
	if _, after := look(first, "hack/run.sh"); !after.ModTime().Equal(before.ModTime()) {
		t.Error("the copy has another time")
	}
	put(first, "go.mod", "module spoiled\n", 0o644)
	if again := settle(); again != first {
		t.Errorf("the first copy is %s, and the second %s", first, again)
	}
	if content, _ := look(first, "go.mod"); content != "module fleet\n" {
		t.Errorf("go.mod is %q", content)
	}
	put(from, "go.mod", "module other\n", 0o644)
	if other := settle(); other == first {
		t.Error("another project has the same copy")
	}

	if _, _, err := Settle(from, "other programs"); err != nil {
		t.Fatal(err)
	}
	places, err := os.ReadDir(filepath.Dir(filepath.Dir(first)))
	if err != nil || len(places) != 3 {
		t.Errorf("two projects, one of them with other programs, have the copies %v: %v", places, err)
	}

	long := time.Now().Add(-30 * 24 * time.Hour)
	put(from, "go.mod", "module fleet\n", 0o644)
	if err := os.Chtimes(filepath.Dir(first), long, long); err != nil {
		t.Fatal(err)
	}
	if again := settle(); again != first {
		t.Errorf("the first copy is %s, and a later one %s", first, again)
	}
	look(first, "go.mod")
	if err := os.Chtimes(filepath.Dir(first), long, long); err != nil {
		t.Fatal(err)
	}
	put(from, "go.mod", "module other\n", 0o644)
	settle()
	if _, err := os.Stat(first); err == nil {
		t.Error("a copy that nobody used for days is still there")
	}
}

// TestSettleAtOnce settles a project several times at once, after somebody wrote to its
// copy: each caller gets a whole copy.
func TestSettleAtOnce(t *testing.T) {
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
				dir, _, err := Settle(from)
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
		dir, _, err := Settle(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "spoiled"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPrune keeps the copies used last, up to a size, and all that may be in use.
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
