//go:build unix

package input

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadFile reads files that are regular, and others, from the disk and from a folder.
func TestReadFile(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		syscall.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("folder"), 0o700),
		os.WriteFile(at("file"), []byte("text"), 0o600), os.WriteFile(at("folder/empty"), nil, 0o600),
		os.WriteFile(at("large"), bytes.Repeat([]byte("a"), 11), 0o600), os.Truncate(at("large"), 1<<40),
		os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600),
		os.Symlink("pipe", at("link to pipe")), os.Symlink("../file", at("folder/link")), os.Symlink("large", at("link to large")),
		os.Symlink(filepath.Join(outside, "secret"), at("link out")), os.Symlink("../../missing", at("folder/link up")),
		os.Symlink(outside, at("folder out")), os.Symlink(os.DevNull, at("link to device")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	folder, sources := Folder(dir, 10), Sources(dir, 10)
	for name, want := range map[string]struct {
		content         string
		err, fromFolder error
	}{
		"file":              {"text", nil, nil},
		"folder/empty":      {"", nil, nil},
		"folder/link":       {"text", nil, nil},
		"link out":          {"secret", nil, ErrOutside},
		"folder out/secret": {"secret", nil, ErrOutside},
		"folder/link up":    {"", fs.ErrNotExist, ErrOutside},
		"link to device":    {"", ErrIrregular, ErrOutside},
		"pipe":              {"", ErrIrregular, ErrIrregular},
		"link to pipe":      {"", ErrIrregular, ErrIrregular},
		"large":             {"", TooLarge(10), TooLarge(10)},
		"link to large":     {"", TooLarge(10), TooLarge(10)},
		"missing":           {"", fs.ErrNotExist, fs.ErrNotExist},
		"folder":            {"", syscall.EISDIR, syscall.EISDIR},
	} {
		content, err := ReadFile(at(name), 10)
		if !errors.Is(err, want.err) || err == nil && string(content) != want.content {
			t.Errorf("%s: %q, %v", name, content, err)
		}
		if content, err = fs.ReadFile(sources, name); !errors.Is(err, want.err) || err == nil && string(content) != want.content {
			t.Errorf("%s of the sources: %q, %v", name, content, err)
		}
		content, err = fs.ReadFile(folder, name)
		if !errors.Is(err, want.fromFolder) || err == nil && string(content) != want.content {
			t.Errorf("%s of the folder: %q, %v", name, content, err)
		}
	}
	if _, err := fs.Stat(Folder(at("missing"), 10), "file"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
}
