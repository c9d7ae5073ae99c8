// Package treetest reads, writes and compares trees of files in tests.
package treetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/process"
)

// Read returns the contents of the files below a folder, by slash-separated path. The
// path of an executable file ends with an asterisk. Files in bin and operon's journal
// are left out: they are not part of a project. A folder that does not exist is empty.
func Read(t testing.TB, dir string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == ".operon/journal" || rel == "bin" {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		if info.Mode()&0o111 != 0 {
			rel += "*"
		}
		tree[rel] = string(content)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return tree
}

// Write replaces a folder by a tree that Read returned.
func Write(t testing.TB, dir string, tree map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for rel, content := range tree {
		rel, executable := strings.CutSuffix(rel, "*")
		mode := fs.FileMode(0o644)
		if executable {
			mode = 0o755
		}
		name := filepath.Join(dir, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := process.WriteProgram(name, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
}

// MakeDir creates a folder and its parents.
func MakeDir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// ReadFile returns the content of a file.
func ReadFile(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// WriteFile writes a file with mode 0644, and creates its folder if necessary.
func WriteFile(t testing.TB, name, content string) {
	t.Helper()
	MakeDir(t, filepath.Dir(name))
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Replace replaces the first occurrence of a text in a file. The file must hold it.
func Replace(t testing.TB, name, before, after string) {
	t.Helper()
	content := ReadFile(t, name)
	if !strings.Contains(content, before) {
		t.Fatalf("%s lacks %q:\n%s", name, before, content)
	}
	WriteFile(t, name, strings.Replace(content, before, after, 1))
}
