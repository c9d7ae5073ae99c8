package gen

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/spf13/afero"
	"golang.org/x/mod/modfile"
	"golang.org/x/tools/txtar"
)

func TestMain(m *testing.M) {
	// This process, the go command and controller-gen are short-lived, so less garbage
	// collection makes the tests faster.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		_ = os.Setenv("GOGC", "400")
	}
	os.Exit(m.Run())
}

// runCLI runs controller-gen of the pinned version in dir.
func runCLI(t *testing.T, dir string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	here := strings.NewReplacer(peertest.Folder, dir)
	a := peertest.Find(t, "controller-gen").Ask(t, peertest.Question{Args: args, Env: []string{"GOPROXY=off", "GOTOOLCHAIN=local"}, Files: tree(t, dir)})
	for name, content := range a.Written {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), []byte(content))
	}
	if a.Code != 0 {
		err = fmt.Errorf("exit code %d", a.Code)
	}
	return here.Replace(a.Stdout), here.Replace(a.Stderr), err
}

// TestPeerVersion checks that the tests compare with the version that operon is built
// with.
func TestPeerVersion(t *testing.T) {
	t.Parallel()
	stdout, _, _ := runCLI(t, t.TempDir(), "--version")
	if want := "Version: " + pins.ControllerTools + "\n"; stdout != want {
		t.Errorf("controller-gen prints %q, want %q", stdout, want)
	}
}

// fixture writes testdata/<name>.txtar into a new folder, as a module with the
// requirements of this repository, so that it needs no network. more are further
// archives, as text, that add or replace files.
func fixture(t *testing.T, name string, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	goMod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.AddModuleStmt("example.com/zoo"); err != nil {
		t.Fatal(err)
	}
	if goMod, err = f.Format(); err != nil {
		t.Fatal(err)
	}
	goSum, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "go.mod"), goMod)
	writeFile(t, filepath.Join(dir, "go.sum"), goSum)
	archive, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append([]string{string(archive)}, more...) {
		for _, file := range txtar.Parse([]byte(text)).Files {
			writeFile(t, filepath.Join(dir, filepath.FromSlash(file.Name)), file.Data)
		}
	}
	return dir
}

func writeFile(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// newPlan returns an empty plan for dir.
func newPlan(t *testing.T, dir string) *scaffold.Plan {
	t.Helper()
	p, err := scaffold.New(afero.NewBasePathFs(afero.NewOsFs(), dir), scaffold.Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// generated returns what the plan generates, by path.
func generated(p *scaffold.Plan) map[string]string {
	files := map[string]string{}
	for _, c := range p.Changes() {
		if c.Class == scaffold.Generated && c.After != nil {
			files[c.Path] = string(c.After)
		}
	}
	return files
}

// tree reads all files below dir, by slash-separated path.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// written returns the files in dir that changed since before.
func written(t *testing.T, dir string, before map[string]string) map[string]string {
	t.Helper()
	files := tree(t, dir)
	for name, content := range before {
		if files[name] == content {
			delete(files, name)
		}
	}
	return files
}

// warnings formats the plan's warnings, one per line.
func warnings(p *scaffold.Plan) string {
	var b strings.Builder
	for _, w := range p.Warnings() {
		fmt.Fprintf(&b, "%s:%d:%d: [%s] %s\n", w.File, w.Line, w.Column, w.Rule, w.Message)
	}
	return b.String()
}
