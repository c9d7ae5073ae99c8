//go:build unix

package generate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestUnusableFiles puts a named pipe, and a file of 3 GB, in place of each file that generate reads. Without a limit, it would wait
// for ever, or read all of it. A new kind of file is a row.
func TestUnusableFiles(t *testing.T) {
	t.Parallel()
	project := operontest.InitProject(t)
	operontest.Run(t, project, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate")
	for _, file := range []string{
		"PROJECT", "go.mod", "go.sum", "go.work", "go.work.sum", "vendor/modules.txt", "../go.work", "Makefile", "Taskfile.yml", "justfile",
		"hack/boilerplate.go.txt", "config/crd/kustomization.yaml", "config/default/kustomization.yaml", "config/rbac/role.yaml", ".operon/generated.json",
		"config/crd/bases/ship.example.org_frigates.yaml", "api/v1/zz_generated.deepcopy.go", "internal/controller/frigate_controller.go",
	} {
		for _, kind := range []string{"pipe", "3 GB"} {
			t.Run(kind+" as "+file, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "p")
				if err := os.CopyFS(dir, os.DirFS(project)); err != nil {
					t.Fatal(err)
				}
				name := filepath.Join(dir, file)
				if file == "go.work.sum" {
					treetest.WriteFile(t, filepath.Join(dir, "go.work"), "go 1.26.0\n\nuse .\n")
				}
				_ = os.Remove(name)
				for _, err := range []error{os.MkdirAll(filepath.Dir(name), 0o700), unusable(name, kind)} {
					if err != nil {
						t.Fatal(err)
					}
				}
				var out bytes.Buffer
				code := operontest.Do(dir, nil, &out, &out, "generate", "--check")
				if code == 0 || !strings.Contains(out.String(), file) || !strings.Contains(out.String(), "hint:") {
					t.Errorf("exit code %d:\n%s", code, out.String())
				}
			})
		}
	}
}

// unusable makes a named pipe, or a sparse file.
func unusable(name, kind string) error {
	if kind == "pipe" {
		return syscall.Mkfifo(name, 0o600)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		return err
	}
	return os.Truncate(name, 3<<30)
}
