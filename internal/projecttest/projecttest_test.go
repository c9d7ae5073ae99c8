package projecttest

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSettle settles a project again and again.
func TestSettle(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} { // one of them says where
		t.Setenv(name, t.TempDir())
	}
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
		t.Error("what was built came along")
	}
	put(from, "hack/run.sh", "#!/bin/sh\n", 0o755) // the same, and new
	if again := settle(); again != first {
		t.Errorf("%s, and then %s", first, again)
	}
	if _, after := look(first, "hack/run.sh"); !after.ModTime().Equal(before.ModTime()) {
		t.Error("the copy has another time")
	}
	put(first, "go.mod", "module spoiled\n", 0o644)
	if again := settle(); again != first {
		t.Errorf("%s, and then %s", first, again)
	}
	if content, _ := look(first, "go.mod"); content != "module fleet\n" {
		t.Errorf("go.mod is %q", content)
	}
	put(from, "go.mod", "module other\n", 0o644)
	if other := settle(); other == first {
		t.Error("another project has the same place")
	}

	long := time.Now().Add(-30 * 24 * time.Hour)
	if err := os.Chtimes(filepath.Dir(first), long, long); err != nil {
		t.Fatal(err)
	}
	settle()
	if _, err := os.Stat(first); err == nil {
		t.Error("what nobody uses stays")
	}
}
