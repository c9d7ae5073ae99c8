//go:build unix

package interrupt

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/operontest"
)

const (
	oldBases = "/.operon/base/"
	newBases = ".operon/base.lines"
)

// TestMigrate opens a project whose state has version 1: commands that only read it leave
// it as it is, and the first one that writes migrates it, also after a kill at any moment.
func TestMigrate(t *testing.T) {
	t.Parallel()
	project := oldProject(t)
	before := listing(t, project)
	for _, args := range [][]string{{"generate", "--check"}, {"edit", "--namespaced", "--dry-run", "--diff"}} {
		cmd := exec.Command("operon", args...)
		cmd.Dir = project
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() != 3 {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
		if strings.Contains(string(out), ".operon/base") {
			t.Errorf("%q shows the state:\n%s", args, out)
		}
		if diff := cmp.Diff(before, listing(t, project)); diff != "" {
			t.Fatalf("%q changed the project (-before +after):\n%s", args, diff)
		}
	}

	create := []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Sloop", "--make=false"}
	done := copied(t, project)
	cmd := exec.Command("operon", create...)
	cmd.Dir = done
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "the folder .operon/base is now the file .operon/base.lines") {
		t.Fatalf("create api: %v\n%s", err, out)
	}
	after := listing(t, done)
	for name := range before {
		if path, isBase := strings.CutSuffix(strings.TrimPrefix("/"+name, oldBases), ".base"); isBase && !strings.Contains(after[newBases], "\n"+path+"\t") {
			t.Errorf("%s has no base after the migration", path)
		}
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(after)), func(name string) bool { return strings.HasPrefix("/"+name+"/", oldBases) }) {
		t.Error("the old bases are still there")
	}
	for file, mark := range map[string]string{"cmd/main.go": "// main is ours.", "api/v1/frigate_types.go": "// FrigateSpec is ours."} {
		if !strings.Contains(after[file], mark) {
			t.Errorf("%s lost an edit", file)
		}
	}
	operontest.Run(t, done, "init") // no conflicts

	killed := 0
	for i := range 20 {
		dir := copied(t, project)
		if signalled(t, dir, syscall.SIGKILL, pause(time.Duration(i)*10*time.Millisecond), create...) != 0 {
			killed++
		}
		operontest.Run(t, dir, create...)
		if diff := cmp.Diff(after, listing(t, dir)); diff != "" {
			t.Fatalf("the command after a kill (-want +got):\n%s", diff)
		}
	}
	if killed == 0 {
		t.Error("no run was killed")
	}
}

func copied(t *testing.T, project string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fleet")
	if err := os.CopyFS(dir, os.DirFS(project)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// oldProject unpacks a project that an operon with version 1 of the state wrote: init, create
// api, create webhook, and then edits of a user, who also deleted a folder.
func oldProject(t *testing.T) string {
	t.Helper()
	f, err := os.Open("../../../testdata/state/version-1.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for archive := tar.NewReader(z); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, "fleet")
		}
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, filepath.FromSlash(header.Name))
		content, err := io.ReadAll(archive)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, content, header.FileInfo().Mode()))
		if err != nil {
			t.Fatal(err)
		}
	}
}
