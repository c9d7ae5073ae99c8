package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	const mode = 0o626 // the usual umask would cut it
	if err := errors.Join(os.Symlink("file", link), os.WriteFile(file, []byte("old"), 0o600), os.Chmod(file, mode)); err != nil {
		t.Fatal(err)
	}
	full := Write(link, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return &os.PathError{Op: "write", Path: "part", Err: syscall.ENOSPC}
	})
	if full == nil || full.Error() != "cannot write "+link+": no space left on device" || !strings.Contains(fault.HintOf(full), "space") {
		t.Errorf("%v (hint: %s)", full, fault.HintOf(full))
	}
	other := errors.New("other")
	if err := Write(file, func(io.Writer) error { return other }); !errors.Is(err, other) {
		t.Errorf("%v", err)
	}
	if got, _ := os.ReadFile(file); string(got) != "old" {
		t.Errorf("after failures, the file has %q", got)
	}
	if err := WriteBytes(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(file)
	info, err := os.Stat(file)
	if err != nil || string(got) != "new" || info.Mode().Perm() != mode {
		t.Errorf("%q, %v, %v", got, info.Mode(), err)
	}
	if to, _ := os.Readlink(link); to != "file" {
		t.Error("the link is gone")
	}
	if err := WriteBytes(os.DevNull, []byte("new")); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("left %v", entries)
	}
}

// TestWritePrivate checks that neither the mode of a former file nor a link makes the content public.
func TestWritePrivate(t *testing.T) {
	dir := t.TempDir()
	public, link := filepath.Join(dir, "public"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(public, []byte("old"), 0o644), os.Symlink("public", link)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(dir, "new"), link, public} {
		if name == public {
			if got, _ := os.ReadFile(public); string(got) != "old" {
				t.Errorf("the target of the link has %q", got)
			}
		}
		if err := WritePrivate(name, []byte("secret")); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(name)
		info, err := os.Lstat(name)
		if err != nil || string(got) != "secret" || info.Mode() != 0o600 {
			t.Errorf("%s: %q, %v, %v", name, got, info.Mode(), err)
		}
	}
	if err := WritePrivate(dir, nil); err == nil {
		t.Error("a folder is replaced")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 3 {
		t.Errorf("left %v", entries)
	}
}

// TestStage checks that staged content changes nothing before it is placed, and leaves nothing when
// it is discarded.
func TestStage(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"old", "new"} {
		s, err := Stage(file, []byte("new"))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(file); string(got) != "old" {
			t.Errorf("before Place, the file has %q", got)
		}
		if want == "new" {
			err = s.Place()
		}
		s.Discard()
		if got, _ := os.ReadFile(file); string(got) != want || err != nil {
			t.Errorf("%q, want %s, %v", got, want, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left %v", entries)
	}
}

func TestHints(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{"": "name a file", "no/file": "name a file in a folder that exists"} {
		err := WriteBytes(filepath.Join(dir, name), nil)
		if err == nil || fault.HintOf(err) != want {
			t.Errorf("%q: %v (hint: %s)", name, err, fault.HintOf(err))
		}
	}
}
