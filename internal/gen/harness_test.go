package gen

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
	"golang.org/x/mod/modfile"
	"golang.org/x/tools/txtar"
)

// controllerGen returns the real controller-gen of the pinned version: the one
// that CONTROLLER_GEN names, else one that is built from the module which pins
// the tools that tests compare with, once for all tests.
var controllerGen = sync.OnceValues(func() (string, error) {
	bin := os.Getenv("CONTROLLER_GEN")
	if bin == "" {
		dir, err := os.MkdirTemp("", "controller-gen-")
		if err != nil {
			return "", err
		}
		cleanup = append(cleanup, dir)
		bin = filepath.Join(dir, "controller-gen.exe")
		// The library prints the version of the main module, which is
		// controller-tools only where it was built from there.
		build := exec.Command("go", "build", "-o", bin,
			"-ldflags=-X "+toolsModule+"/pkg/version.version="+pins.ControllerTools, toolsModule+"/cmd/controller-gen")
		build.Dir = filepath.Join("..", "..", "testdata", "peers")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build controller-gen: %w\n%s", err, out)
		}
	}
	out, err := exec.Command(bin, "--version").Output()
	if want := "Version: " + pins.ControllerTools + "\n"; err == nil && string(out) != want {
		err = fmt.Errorf("%s says %q, want %q", bin, out, want)
	}
	return bin, err
})

var cleanup []string

func TestMain(m *testing.M) {
	// The tests spend their time in this process, the go command and
	// controller-gen, all of them short-lived: let them collect less garbage.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		_ = os.Setenv("GOGC", "400")
	}
	code := m.Run()
	for _, dir := range cleanup {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// runCLI runs the real controller-gen in dir.
func runCLI(t *testing.T, dir string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	bin, err := controllerGen()
	if err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	cmd := exec.Command(bin, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &o, &e
	// It ends before collecting pays, but for a module of many kinds.
	cmd.Env = append(goEnv(os.Environ()), "GOGC=off", "GOMEMLIMIT=1GiB")
	err = cmd.Run()
	return o.String(), e.String(), err
}

// fixture writes testdata/<name>.txtar into a new folder, as a module that
// requires what this repository requires, so that it needs no network. Further
// archives, given as text, add files or replace them.
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

// newPlan is an empty plan over dir.
func newPlan(t *testing.T, dir string) *scaffold.Plan {
	t.Helper()
	p, err := scaffold.New(afero.NewBasePathFs(afero.NewOsFs(), dir), scaffold.Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// generated is what the plan generates, by path.
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

// written is what changed in dir since before.
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

// warnings renders the plan's warnings, one a line.
func warnings(p *scaffold.Plan) string {
	var b strings.Builder
	for _, w := range p.Warnings() {
		fmt.Fprintf(&b, "%s:%d:%d: [%s] %s\n", w.File, w.Line, w.Column, w.Rule, w.Message)
	}
	return b.String()
}
