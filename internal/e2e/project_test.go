package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/process"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// project is a scaffolded operator with its manager built.
type project struct {
	name    string
	dir     string // the project's folder
	manager string // the built binary
}

// scenario makes the project of testdata/scenarios/<name>: its commands, its
// edits, `operon generate`, and the manager. Several tests share one.
func scenario(t *testing.T, name string) *project {
	t.Helper()
	return build(t, name, "scenario", func(dir string) error {
		if err := follow(filepath.Join("..", "..", "testdata", "scenarios", name), dir); err != nil {
			return err
		}
		_, err := command(dir, "operon", "generate")
		return err
	})
}

// golden is a copy of testdata/golden/<name> with the manager built.
func golden(t *testing.T, name string) *project {
	t.Helper()
	return build(t, name, "golden", func(dir string) error {
		return os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "golden", name)))
	})
}

var (
	projects sync.Map   // of functions that make a project once, by its folder
	building sync.Mutex // the go command takes all cores for one project
)

// build makes a project once. Its folder has the project's name, as that of a
// user would: the module path may come from it.
func build(t *testing.T, name, origin string, scaffold func(dir string) error) *project {
	t.Helper()
	clock(t)
	p := &project{name: name, dir: filepath.Join(scratch, origin, name)}
	p.manager = filepath.Join(p.dir, "bin", "manager")
	once, _ := projects.LoadOrStore(p.dir, sync.OnceValue(func() error {
		if err := os.MkdirAll(p.dir, 0o755); err != nil {
			return err
		}
		made := spent(origin+" "+name, "scaffold")
		err := scaffold(p.dir)
		made()
		if err != nil {
			return err
		}
		building.Lock()
		defer building.Unlock()
		defer spent(origin+" "+name, "build")()
		_, err = command(p.dir, "go", "build", "-o", p.manager, "./cmd")
		return err
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return p
}

// copy is a copy of the project's sources, for tests that change them.
func (p *project) copy(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), p.name)
	if err := os.CopyFS(dir, os.DirFS(p.dir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sample is the first object of a file in config/samples, outside any namespace.
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

// follow runs the lines of the scenario's commands in dir; EDIT lays the user's
// edits over the tree. Lines of make are passed over: they generate and build once
// more, and vet, which the tests of the command itself see.
func follow(scenario, dir string) error {
	lines, err := os.ReadFile(filepath.Join(scenario, "commands"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(lines)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words, err := shellquote.Split(line)
		if err != nil {
			return err
		}
		switch words[0] {
		case "EDIT":
			err = overlay(filepath.Join(scenario, "edits"), dir)
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

// overlay copies the files of one tree over another.
func overlay(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		to := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, content, 0o644)
	})
}

// command runs a program in dir, as offline as a fresh clone may be, and returns
// all that it printed.
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
