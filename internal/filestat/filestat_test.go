package filestat

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func of(t *testing.T, path string) Stat {
	t.Helper()
	s, err := Of(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// setTimes sets the modification time, which advances the change time.
func setTimes(t *testing.T, path string, when time.Time) {
	t.Helper()
	time.Sleep(15 * time.Millisecond)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-time.Hour)
	rewrite := func(t *testing.T, dir string) {
		write(t, filepath.Join(dir, "file"), "edited")
		setTimes(t, filepath.Join(dir, "file"), old)
	}
	changes := map[string]func(t *testing.T, dir string){
		"time":    func(t *testing.T, dir string) { setTimes(t, filepath.Join(dir, "file"), time.Now()) },
		"size":    func(t *testing.T, dir string) { write(t, filepath.Join(dir, "file"), "longer than before") },
		"removed": func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "file")) },
		"folder": func(t *testing.T, dir string) {
			_ = os.Remove(filepath.Join(dir, "file"))
			_ = os.Mkdir(filepath.Join(dir, "file"), 0o700)
		},
	}
	if runtime.GOOS != "windows" {
		changes["rewritten"] = rewrite // with the same size and modification time
		changes["mode"] = func(t *testing.T, dir string) { _ = os.Chmod(filepath.Join(dir, "file"), 0o400) }
		changes["other"] = func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "other"), "edited")
			setTimes(t, filepath.Join(dir, "other"), old)
			_ = os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "file"))
		}
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "file"), "before")
			setTimes(t, filepath.Join(dir, "file"), old)
			link := filepath.Join(dir, "link")
			if runtime.GOOS == "windows" {
				link = filepath.Join(dir, "file") // only some users can create links there
			} else if err := os.Symlink("file", link); err != nil {
				t.Fatal(err)
			}
			file, through := of(t, filepath.Join(dir, "file")), of(t, link)
			if file != of(t, filepath.Join(dir, "file")) || through != of(t, link) {
				t.Fatal("the stat of an unchanged file differs")
			}
			change(t, dir)
			if of(t, filepath.Join(dir, "file")) == file {
				t.Error("the stat of the file is the same")
			}
			if of(t, link) == through {
				t.Error("the stat of a link to the file is the same")
			}
		})
	}
}

func TestIgnoreEntries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := of(t, dir)
	time.Sleep(15 * time.Millisecond)
	write(t, filepath.Join(dir, "new"), "")
	after := of(t, dir)
	if before == after {
		t.Error("the stat of the folder is the same")
	}
	if before.IgnoreEntries() != after.IgnoreEntries() || !after.IgnoreEntries().IsDir() {
		t.Error("new entries change the stat without entries")
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	for _, name := range []string{"gone", "gone/deeper", "file/below"} {
		if s := of(t, filepath.Join(dir, name)); s.Exists() || s != (Stat{}) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s := of(t, filepath.Join(dir, "file")); !s.Exists() || s.IsDir() || s.IgnoreEntries() == (Stat{}) {
		t.Errorf("a file: %+v", s)
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := func(ago time.Duration) int64 { return now.Add(-ago).UnixNano() }
	for name, tt := range map[string]struct {
		s    Stat
		want bool
	}{
		"missing":             {Stat{}, true},
		"long ago":            {Stat{self: node{ctime: at(time.Hour) | 1}}, true},
		"just now":            {Stat{self: node{ctime: at(5*time.Millisecond) | 1}}, false},
		"after t":             {Stat{self: node{ctime: at(-time.Second) | 1}}, false},
		"a second, coarse":    {Stat{self: node{ctime: now.Add(-time.Second).Unix() * second}}, false},
		"four, coarse":        {Stat{self: node{ctime: now.Add(-4*time.Second).Unix() * second}}, true},
		"target":              {Stat{self: node{ctime: at(time.Hour) | 1}, target: node{ctime: at(0) | 1}}, false},
		"no change time":      {Stat{self: node{mtime: at(0) | 1}}, false},
		"mtime in the future": {Stat{self: node{ctime: at(time.Hour) | 1, mtime: at(-time.Hour)}}, true},
	} {
		if got := tt.s.Settled(now); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	s, err := Of(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.Append(nil))
	f.Add(Stat{self: s.self, target: s.self}.Append([]byte{}))
	f.Add(Stat{}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, rest, ok := Decode(b)
		if !ok {
			return
		}
		again, none, ok := Decode(s.Append(nil))
		if !ok || again != s || len(none) > 0 || len(rest) > len(b) {
			t.Errorf("%v decodes to %+v", b, again)
		}
	})
}

func TestDecodeTruncated(t *testing.T) {
	t.Parallel()
	s := of(t, t.TempDir())
	whole := s.Append(nil)
	for i := range whole {
		if got, _, ok := Decode(whole[:i]); ok {
			t.Errorf("%d of %d bytes decode to %+v", i, len(whole), got)
		}
	}
	got, rest, ok := Decode(append(bytes.Clone(whole), "rest"...))
	if !ok || got != s || string(rest) != "rest" {
		t.Errorf("got %+v %q %v", got, rest, ok)
	}
}
