//go:build testextra

package projects

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/testkit/compattest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/repository"
)

// TestCompatibility adds kinds, controllers and webhooks to a project with older libraries. It builds,
// vets and tests the project on the API server of new projects. `make compat` also writes docs/compatibility.md.
func TestCompatibility(t *testing.T) {
	t.Parallel()
	commands, err := operontest.Commands(repository.Path("testdata/compat/commands"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, modules := range compattest.Modules(t) {
		rows = append(rows, compattest.Row(t, modules, pins.Kubernetes))
		t.Run(filepath.Base(modules), func(t *testing.T) {
			t.Parallel()
			dir := compattest.Project(t, modules)
			operontest.Exec(t, dir, "go", "mod", "tidy") // new projects have more modules
			for _, args := range commands {
				checkQuiet(t, dir, args)
			}
			for _, args := range commands {
				if out := operontest.Run(t, dir, args...); out != "nothing to do\n" {
					t.Errorf("a repeat of %v:\n%s", args, out)
				}
			}
			projecttest.Check(t, dir, "-skip=^TestE2E$") // it needs a cluster

			edited := filepath.Join(t.TempDir(), "fleet")
			if err := os.CopyFS(edited, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			operontest.Run(t, edited, "edit", "--multigroup", "--namespaced")
			projecttest.GoCommand(t, edited, "vet", "./...")
		})
	}
	t.Cleanup(func() {
		if !t.Failed() {
			compattest.CheckTable(t, "Tested versions", rows)
		}
	})
}

// checkQuiet runs an operon command. It may only warn about what the project has: its Makefile pins no
// generators of operon, and its end-to-end tests have no markers.
func checkQuiet(t *testing.T, dir string, args []string) {
	t.Helper()
	var report struct {
		Warnings []struct{ File, Rule, Message string }
	}
	if err := json.Unmarshal([]byte(operontest.Run(t, dir, append(slices.Clone(args), "--output", "json")...)), &report); err != nil {
		t.Fatal(err)
	}
	for _, w := range report.Warnings {
		if w.Rule != "e2e" {
			t.Errorf("operon %v warns: %v", args, w)
		}
	}
}
