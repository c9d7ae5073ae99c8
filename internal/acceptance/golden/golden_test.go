package golden

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestGolden scaffolds each golden project again and compares it with testdata/golden. With
// -update it rewrites the golden project instead.
func TestGolden(t *testing.T) {
	for _, name := range goldentest.Names(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), name)
			treetest.MakeDir(t, dir)
			if err := os.Symlink(repository.Path("testdata", "charts"), filepath.Join(filepath.Dir(dir), "charts")); err != nil {
				t.Fatal(err)
			}
			commands, err := operontest.Commands(goldentest.CommandsFile(name))
			if err != nil {
				t.Fatal(err)
			}
			for _, words := range commands {
				operontest.Run(t, dir, words...)
			}
			got := treetest.Read(t, dir)
			want := goldentest.Dir(name)
			if *operontest.Update {
				treetest.Write(t, want, got)
			}
			if diff := treetest.Diff(treetest.Read(t, want), got); diff != "" {
				t.Errorf("the tree differs (-golden +now; make golden ONLY=%s accepts it):\n%s", name, diff)
			}
		})
	}
}

// TestCharts runs the checks of CI on golden projects of Helm charts, except for their tests, which the package hooks runs.
func TestCharts(t *testing.T) {
	for _, name := range goldentest.Names(t) {
		if !goldentest.HasCharts(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), name)
			if err := os.CopyFS(dir, os.DirFS(goldentest.Dir(name))); err != nil {
				t.Fatal(err)
			}
			operontest.Run(t, dir, "generate", "--check")
			operontest.Run(t, dir, "kustomize", "build", "config/default")
			operontest.Run(t, dir, "bundle", "generate", "--version", "0.1.0", "--image", "registry.example.org/shops:v0.1.0")
			operontest.Run(t, dir, "bundle", "validate")
		})
	}
}

// TestControllerGen compares the generated files of golden projects with controller-gen's.
func TestControllerGen(t *testing.T) {
	t.Parallel()
	for _, name := range goldentest.Names(t) {
		dir := goldentest.Dir(name)
		if !goldentest.IsGo(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const header = "hack/boilerplate.go.txt"
			files, sources := treetest.Read(t, dir), projecttest.GoFiles(t, dir)
			sources[header] = files[header]
			made := peertest.Ask(t, name, "controller-gen", peertest.Question{
				Args: []string{"rbac:roleName=manager-role", "crd", "webhook", "applyconfiguration:headerFile=" + header, "object:headerFile=" + header, "paths=./...", "output:crd:artifacts:config=config/crd/bases"},
				Env:  []string{"GOPROXY=off", "GOWORK=off"}, Files: sources,
			})
			if made.Code != 0 || len(made.Written) == 0 {
				t.Errorf("controller-gen: exit code %d\n%s", made.Code, made.Stderr)
			}
			for file, sum := range made.Written {
				if answers.Sum(files[file]) != sum {
					t.Errorf("controller-gen makes another %s", file)
				}
			}
		})
	}
}

// TestFrom starts golden projects of hooks and modules again from their PROJECT alone: the result equals the commands by hand.
func TestFrom(t *testing.T) {
	for _, name := range goldentest.Names(t) {
		if goldentest.IsGo(name) || goldentest.HasCharts(name) {
			continue // the script init_from_kinds has projects in Go
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), name)
			treetest.MakeDir(t, dir)
			operontest.Run(t, dir, "init", "--from", goldentest.Dir(name))
			want, got := treetest.Read(t, goldentest.Dir(name)), treetest.Read(t, dir)
			for _, tree := range []map[string]string{want, got} {
				maps.DeleteFunc(tree, func(file, _ string) bool { return strings.HasPrefix(file, ".operon/") })
			}
			if diff := treetest.Diff(want, got); diff != "" {
				t.Errorf("the tree differs (-golden +from):\n%s", diff)
			}
		})
	}
}
