package scorecard

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operon-dev/operon/internal/fault"
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

// stored returns the stages of a run whose tests have these labels and a storage.
func stored(labels ...string) []v1alpha3.StageConfiguration {
	stage := v1alpha3.StageConfiguration{Parallel: true}
	for _, l := range labels {
		test := v1alpha3.TestConfiguration{Image: "example.org/custom", Labels: map[string]string{"test": l}}
		test.Storage.Spec.MountPath.Path = "/out"
		stage.Tests = append(stage.Tests, test)
	}
	return []v1alpha3.StageConfiguration{stage}
}

// prepare does what the command does before the tests run.
func prepare(dir string, labels ...string) error {
	folders, err := OutputFolders(dir, stored(labels...))
	if err == nil {
		err = EmptyFolders(dir, folders)
	}
	return err
}

func TestOutputFoldersOutside(t *testing.T) {
	for _, to := range []string{"../../ssh", "..", ".", "a/../.."} {
		around := t.TempDir()
		err := prepare(filepath.Join(around, "a", "out"), "fine", to)
		if err == nil || !strings.Contains(err.Error(), "labels") || fault.HintOf(err) == "" {
			t.Errorf("%q: %v", to, err)
		}
		if _, err := os.Stat(filepath.Join(around, "a")); !os.IsNotExist(err) {
			t.Errorf("%q: wrote a folder: %v", to, err)
		}
	}
}

func TestOutputFoldersKeepOutOfLinkedFolders(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "suite"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, "suite", "next")); err != nil {
		t.Fatal(err)
	}
	if err := prepare(folder, "fine", "suite/next"); err == nil {
		t.Error("no error for a folder behind a link that leads outside")
	}
	if err := archived(t, folder, logFile).gather(t.Context(), "pod", "/out", "suite/next"); err == nil {
		t.Error("no error for a link that was made after the check")
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("wrote %v outside", entries)
	}
	if _, err := os.Stat(filepath.Join(folder, "fine")); !os.IsNotExist(err) {
		t.Errorf("wrote a folder before the error: %v", err)
	}
}

// TestGatherEscapingLinks expects that no link in the output leads out of the folder.
func TestGatherEscapingLinks(t *testing.T) {
	folder := t.TempDir()
	link := func(name, to string) tar.Header {
		return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
	}
	pods := archived(t, folder, logFile, link("absolute", "/etc/hosts"), link("up", "../../.."), link("deep/top", ".."), link("chain", "deep/top/.."),
		link("inside", "log.txt"), link("container", "/out/log.txt"), link("missing", "later.txt"), link("loop", "loop"),
		tar.Header{Typeflag: tar.TypeLink, Name: "same", Linkname: "out/absolute"})
	var notes []string
	pods.Note = func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if err := pods.gather(t.Context(), "pod", "/out", "suite"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"absolute": false, "up": false, "chain": false, "same": false, "deep/top": true, "inside": true, "container": true, "missing": true, "loop": true} {
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

	// A test with the same labels makes a link of the first one lead outside.
	for _, later := range []tar.Header{link("late", "other/../.."), {Typeflag: tar.TypeDir, Name: "other"}} {
		pods.Exec = archived(t, folder, later).Exec
		if err := pods.gather(t.Context(), "pod", "/out", "suite"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(filepath.Join(folder, "suite/late")); !os.IsNotExist(err) {
		t.Errorf("late: %v", err)
	}
}

// TestOutputFoldersOfTheUser expects an error, and that nothing changes, if the labels of a test
// name a folder with files that is not operon's, even if a test has written operon's marker.
func TestOutputFoldersOfTheUser(t *testing.T) {
	folder := t.TempDir()
	main := filepath.Join(folder, "src/main")
	if err := os.MkdirAll(main, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(main, "main.go"), []byte("package main"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hosts", filepath.Join(main, "hosts")); err != nil {
		t.Fatal(err)
	}
	refused := func() {
		t.Helper()
		err := prepare(folder, "a", "src/main")
		if err == nil || !strings.HasSuffix(err.Error(), "src/main, which has files and lacks operon's file .scorecard-output") || !strings.Contains(fault.HintOf(err), "older operon") {
			t.Errorf("%v", err)
		}
		if found := tree(t, folder); !slices.Equal(found, []string{"src", "src/main", "src/main/hosts", "src/main/main.go"}) {
			t.Errorf("found %q", found)
		}
	}
	refused()
	marker := func(name string, kind byte) tar.Header {
		return tar.Header{Typeflag: kind, Name: name, Linkname: "log.txt"}
	}
	pods := archived(t, folder, marker(".scorecard-output", tar.TypeReg), marker("./.Scorecard-Output", tar.TypeSymlink),
		marker("main/.scorecard-output", tar.TypeReg), marker("main/.scorecard-output/deep", tar.TypeReg), marker(".scorecard-output", tar.TypeDir))
	for _, to := range []string{"src/main", "src"} {
		if err := pods.gather(t.Context(), "pod", "/out", to); err != nil {
			t.Fatal(err)
		}
	}
	refused()
}

// TestOutputFolders expects that the output of an earlier run goes, and the output of other tests of
// this run stays, also if they share a folder, or the folder of one is in the folder of another.
func TestOutputFolders(t *testing.T) {
	folder := t.TempDir()
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	labels := []string{"basic/x", "basic", "basic", "other"}
	for _, run := range []string{"first", "second"} {
		if err := prepare(folder, labels...); err != nil {
			t.Fatal(err)
		}
		pods := archived(t, folder, file(run+"/log.txt"), tar.Header{Typeflag: tar.TypeSymlink, Name: run + "/last", Linkname: "log.txt"})
		var running sync.WaitGroup
		for _, to := range labels {
			running.Go(func() {
				if err := pods.gather(t.Context(), "pod", "/out", to); err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
	}
	var want []string
	for _, to := range []string{"basic", "basic/x", "other"} {
		want = append(want, to, to+"/.scorecard-output", to+"/second", to+"/second/last", to+"/second/log.txt")
	}
	slices.Sort(want)
	if found := tree(t, folder); !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}

// TestOutputFoldersNeeded expects folders only for tests that write output.
func TestOutputFoldersNeeded(t *testing.T) {
	stages := stored("b", "a", "b")
	stages = append(stages, stored("builtin", "none")...)
	stages[1].Tests[0].Image, stages[1].Tests[0].Entrypoint = "example.org/scorecard-test:v1", []string{"scorecard-test", "basic-check-spec"}
	stages[1].Tests[1].Storage.Spec.MountPath.Path = ""
	if folders, err := OutputFolders(filepath.Join(t.TempDir(), "new"), stages); err != nil || !slices.Equal(folders, []string{"a", "b"}) {
		t.Errorf("%q, %v", folders, err)
	}
}

// tree returns the paths below a folder, sorted.
func tree(t *testing.T, folder string) (found []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, _ fs.DirEntry, err error) error {
		if name != "." {
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

func TestGatherAgain(t *testing.T) {
	folder := t.TempDir()
	pods := archived(t, folder, logFile,
		tar.Header{Typeflag: tar.TypeSymlink, Name: "sub/last", Linkname: "../log.txt"},
		tar.Header{Typeflag: tar.TypeLink, Name: "same.txt", Linkname: "out/log.txt"})
	for range 2 {
		if err := pods.gather(t.Context(), "pod", "/out", "usr/bin/test"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"log.txt", "sub/last", "same.txt"} {
		if content, err := os.ReadFile(filepath.Join(folder, "usr/bin/test", name)); err != nil || string(content) != "log" {
			t.Errorf("%s: %q, %v", name, content, err)
		}
	}
}
