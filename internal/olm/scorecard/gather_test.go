package scorecard

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
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
	return &Pods{OutputDir: folder, Cluster: Cluster{
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
	link := tar.Header{Typeflag: tar.TypeSymlink, Name: "next", Linkname: outside}
	if err := archived(t, folder, link).gather(t.Context(), "pod", "/out", "suite"); err != nil {
		t.Fatal(err)
	}
	if err := archived(t, folder, logFile).gather(t.Context(), "pod", "/out", "suite/next"); err == nil {
		t.Error("no error for a folder behind a link that leads outside")
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("wrote %v outside", entries)
	}
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
