package scorecard

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// archived returns Pods whose containers have an archive of the folder /out.
func archived(t *testing.T, folder string, entries ...tar.Header) *Pods {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, h := range entries {
		h.Name = "out/" + h.Name
		if h.Typeflag == tar.TypeReg {
			h.Size = 3
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			_, _ = w.Write([]byte("log"))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &Pods{OutputDir: folder, Note: t.Logf, Cluster: Cluster{
		Exec: func(_ context.Context, _, _, _ string, _ []string, stdout io.Writer) error {
			_, err := stdout.Write(archive.Bytes())
			return err
		},
	}}
}

var logFile = tar.Header{Typeflag: tar.TypeReg, Name: "log.txt"}

func TestGatherRefusesFoldersOutside(t *testing.T) {
	for _, to := range []string{"../../ssh", "..", ".", "a/../..", ""} {
		around := t.TempDir()
		folder := filepath.Join(around, "a", "out")
		err := archived(t, folder, logFile).gather(t.Context(), "pod", "/out", to)
		if err == nil || !strings.Contains(err.Error(), "labels") {
			t.Errorf("%q: %v", to, err)
		}
		if _, err := os.Stat(filepath.Join(around, "a")); !os.IsNotExist(err) {
			t.Errorf("%q: wrote a folder: %v", to, err)
		}
	}
}

func TestGatherKeepsOutOfLinkedFolders(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "suite"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, "suite", "next")); err != nil {
		t.Fatal(err)
	}
	if err := archived(t, folder, logFile).gather(t.Context(), "pod", "/out", "suite/next"); err == nil {
		t.Error("no error for a folder behind a link that leads outside")
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("wrote %v outside", entries)
	}
}

// TestGatherEscapingLinks expects that no link in the output leads out of the folder.
func TestGatherEscapingLinks(t *testing.T) {
	folder := t.TempDir()
	link := func(name, to string) tar.Header {
		return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
	}
	pods := archived(t, folder, logFile, link("absolute", "/etc/hosts"), link("up", "../../.."), link("deep/top", ".."), link("chain", "deep/top/.."),
		link("inside", "log.txt"), link("container", "/out/log.txt"), link("missing", "later.txt"),
		tar.Header{Typeflag: tar.TypeLink, Name: "same", Linkname: "out/absolute"})
	var notes []string
	pods.Note = func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if err := pods.gather(t.Context(), "pod", "/out", "suite"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"absolute": false, "up": false, "chain": false, "same": false, "deep/top": true, "inside": true, "container": true, "missing": true} {
		_, err := os.Lstat(filepath.Join(folder, "suite", name))
		if exists := err == nil; exists != want {
			t.Errorf("%s exists: %v, want %v", name, exists, want)
		}
	}
	if content, err := os.ReadFile(filepath.Join(folder, "suite/container")); err != nil || string(content) != "log" {
		t.Errorf("%q, %v", content, err)
	}
	if len(notes) != 4 || !slices.Contains(notes, "left out suite/absolute in the output of a test: the link leads out of its folder") {
		t.Errorf("notes %q", notes)
	}
}

// TestGatherEmpties expects that the output of an earlier run goes, that of another test of this run
// stays, and so do files in a folder that is not operon's.
func TestGatherEmpties(t *testing.T) {
	folder := t.TempDir()
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	gather := func(p *Pods, to string) {
		t.Helper()
		if err := p.gather(t.Context(), "pod", "/out", to); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(name string, want bool) {
		t.Helper()
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != want {
			t.Errorf("%s exists: %v, want %v", name, err == nil, want)
		}
	}
	gather(archived(t, folder, file("old/first.txt")), "suite/test")
	again := archived(t, folder, file("second.txt"))
	gather(again, "suite/test")
	again.Exec = archived(t, folder, file("third.txt")).Exec
	gather(again, "suite/test")
	expect("suite/test/old", false)
	expect("suite/test/second.txt", true)
	expect("suite/test/third.txt", true)

	if err := os.MkdirAll(filepath.Join(folder, "src/main"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "src/main/main.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	gather(archived(t, folder, logFile), "src/main")
	expect("src/main/main.go", true)
	expect("src/main/log.txt", true)
}

func TestGatherAgain(t *testing.T) {
	folder := t.TempDir()
	pods := archived(t, folder, logFile,
		tar.Header{Typeflag: tar.TypeSymlink, Name: "sub/last", Linkname: "../log.txt"},
		tar.Header{Typeflag: tar.TypeLink, Name: "same.txt", Linkname: "out/log.txt"})
	for range 2 {
		if err := pods.gather(t.Context(), "pod", "/out", "/usr/bin/test"); err != nil { // a test without labels
			t.Fatal(err)
		}
	}
	for _, name := range []string{"log.txt", "sub/last", "same.txt"} {
		if content, err := os.ReadFile(filepath.Join(folder, "usr/bin/test", name)); err != nil || string(content) != "log" {
			t.Errorf("%s: %q, %v", name, content, err)
		}
	}
}
