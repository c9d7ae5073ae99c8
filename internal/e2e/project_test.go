//go:build testall

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/scenariotest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// project is a scaffolded operator with the binary of its manager.
type project struct {
	name    string
	dir     string // the project's folder
	manager string // the built binary
}

// scenario follows testdata/scenarios/<name>, runs `operon generate` and builds the manager.
// Tests share the project.
func scenario(t *testing.T, name string) *project {
	t.Helper()
	return build(t, name, "scenario", func(dir string) error {
		if err := follow(name, dir); err != nil {
			return err
		}
		_, err := command(dir, "operon", "generate")
		return err
	})
}

// golden copies testdata/golden/<name> and builds the manager.
func golden(t *testing.T, name string) *project {
	t.Helper()
	return build(t, name, "golden", func(dir string) error {
		return os.CopyFS(dir, os.DirFS(goldentest.Dir(name)))
	})
}

var (
	projects sync.Map   // functions that build a project once, by its folder
	building sync.Mutex // the go command uses all cores for one project
)

// build scaffolds and builds a project once. Its folder has the name of the project, because commands may
// derive the module path from it.
func build(t *testing.T, name, origin string, scaffold func(dir string) error) *project {
	t.Helper()
	p := &project{name: name, dir: filepath.Join(scratch, origin, name)}
	p.manager = filepath.Join(scratch, origin, name+".manager")
	once, _ := projects.LoadOrStore(p.dir, sync.OnceValue(func() error {
		if err := os.MkdirAll(p.dir, 0o755); err != nil {
			return err
		}
		if err := scaffold(p.dir); err != nil {
			return err
		}
		building.Lock()
		defer building.Unlock()
		if runtime := filepath.Join(p.dir, "runtime"); isFolder(runtime) {
			return projecttest.BuildProgram(runtime, "runtime", p.manager)
		}
		return projecttest.BuildManager(p.dir, p.manager)
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return p
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// copy copies the project, for tests that change it.
func (p *project) copy(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), p.name)
	if err := os.CopyFS(dir, os.DirFS(p.dir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sample returns the first object of a file in config/samples, without a namespace.
func (p *project) sample(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "config", "samples", file))
	if err != nil {
		t.Fatal(err)
	}
	o := objects(t, string(text))[0]
	o.SetNamespace("")
	return o
}

// follow runs the commands of a scenario in dir. It leaves out make, which generates,
// builds and vets once more: internal/acceptance/projects tests that.
func follow(scenario, dir string) error {
	commands, err := scenariotest.Commands(scenario)
	if err != nil {
		return err
	}
	for _, words := range commands {
		switch words[0] {
		case scenariotest.Edit:
			err = scenariotest.ApplyEdits(dir, scenario)
		case "make":
		default:
			_, err = command(dir, words[0], words[1:]...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// command runs a program in dir without network and returns its output.
func command(dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1767225600", "GOPROXY=off", "GOWORK=off")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err := process.Run(cmd)
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out.String())
	}
	return out.String(), err
}
