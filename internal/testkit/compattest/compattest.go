// Package compattest has projects with older libraries. testdata/compat/project is a project as
// kubebuilder v3.14 wrote it, without go.mod. testdata/compat/controller-runtime-0.N has the module
// files of such a project with one minor version of controller-runtime, and the versions of
// Kubernetes, Ginkgo and Gomega that belong to it.
package compattest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"golang.org/x/mod/modfile"
)

// Modules returns the folders with the module files of each set of libraries, oldest first. The last
// one is the path in new projects.
func Modules(t testing.TB) []string {
	t.Helper()
	folders, err := filepath.Glob(repository.Path("testdata/compat/controller-runtime-*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no libraries: %v", err)
	}
	return append(folders, repository.Path("testdata/golden/fleet"))
}

// Project returns a new copy of the project, with the module files in a folder.
func Project(t testing.TB, modules string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fleet")
	if err := os.CopyFS(dir, os.DirFS(repository.Path("testdata/compat/project"))); err != nil {
		t.Fatal(err)
	}
	UseModules(t, dir, modules)
	return dir
}

// UseModules replaces the module files of a project by those in a folder.
func UseModules(t testing.TB, dir, modules string) {
	t.Helper()
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(modules, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// write is the variable that makes tests write the tables of the page.
const write = "OPERON_COMPAT"

const page = "docs/compatibility.md"

// writes reports whether tests write the page.
func writes() bool { return os.Getenv(write) == "write" }

// Row returns the line of the page about the libraries in a folder, which were tested on an API server
// of a Kubernetes version.
func Row(t testing.TB, modules, kubernetes string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(modules, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse("go.mod", src, nil)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, r := range f.Require {
		have[r.Mod.Path] = r.Mod.Version
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", have["sigs.k8s.io/controller-runtime"], have["k8s.io/client-go"], f.Go.Version, kubernetes)
}

// CheckTable compares the rows of the table below a heading of the page, or writes them.
func CheckTable(t testing.TB, heading string, rows []string) {
	t.Helper()
	name := repository.Path(page)
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(src), "\n## "+heading+"\n")
	text, after, ruled := strings.Cut(rest, " --- |\n")
	if !found || !ruled {
		t.Fatalf("%s has no table below %q", page, heading)
	}
	have, want := "", strings.Join(rows, "\n")+"\n"
	for strings.HasPrefix(after, "|") {
		row, more, _ := strings.Cut(after, "\n")
		have, after = have+row+"\n", more
	}
	switch {
	case have == want:
		return
	case !writes():
		t.Errorf("%s, %s: run make compat (-want +got):\n%s", page, heading, cmp.Diff(want, have))
		return
	}
	next := before + "\n## " + heading + "\n" + text + " --- |\n" + want + after
	if err := os.WriteFile(name, []byte(next), 0o644); err != nil {
		t.Fatal(err)
	}
}
