//go:build unix

package filestat

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, link, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	for _, err := range []error{syscall.Mkfifo(pipe, 0o600), os.Symlink("pipe", link), os.WriteFile(file, []byte("text"), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{pipe, link, os.DevNull} {
		if _, err := ReadFile(name); !errors.Is(err, ErrIrregular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if content, err := ReadFile(file); err != nil || string(content) != "text" {
		t.Errorf("file: %q, %v", content, err)
	}
	if _, err := ReadFile(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}
