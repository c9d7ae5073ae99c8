//go:build unix

package generate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/modtest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	"golang.org/x/tools/txtar"
)

// startingFiles returns the files in testdata/edits.txtar, with the requirements of a
// scaffolded project and the checksums of another Kubernetes release.
func startingFiles(t *testing.T) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile(repository.Path("testdata", "edits.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	fleet := goldentest.Dir("fleet")
	files["project/go.mod"] = strings.Replace(treetest.ReadFile(t, filepath.Join(fleet, "go.mod")), "module example.org/fleet", "module "+repo, 1) +
		"\nrequire example.org/local v0.0.0\n\nreplace example.org/local => ../local\n"
	files["project/go.sum"] = treetest.ReadFile(t, filepath.Join(fleet, "go.sum")) + otherSums(t)
	return files
}

// otherKubernetes replaces the release of Kubernetes that the project requires by the
// one that modtest.ClusterAPI requires.
const otherKubernetes = "\nreplace k8s.io/api => k8s.io/api v0.36.3\n\nreplace k8s.io/apimachinery => k8s.io/apimachinery v0.36.3\n"

func otherSums(t *testing.T) string {
	t.Helper()
	return treetest.ReadFile(t, filepath.Join(modtest.Dir(t, modtest.ClusterAPI), "go.sum"))
}

// operon runs operon generate in the project below dir.
func (e *editedProject) operon(dir string, env []string, more ...string) outcome {
	args := append([]string{"generate"}, e.arguments(true)...)
	return e.run(dir, "operon", append(args, more...), append(env, operontest.NoGC))
}

// uncached runs operon without a cache in a copy of a tree, whose files have a given time.
func (e *editedProject) uncached(tree map[string]string, of time.Time) outcome {
	dir := filepath.Join(e.TempDir(), "a")
	defer os.RemoveAll(dir)
	for name, content := range tree {
		file := filepath.Join(dir, name)
		e.must(errors.Join(put(file, content), os.Chtimes(file, of, of)))
	}
	return e.operon(dir, []string{"OPERON_CACHE=off"})
}

// plainRun is uncached with new files. Trees that differ only in .operon share a run: only what a user sees of stale
// files depends on .operon, and check runs operon again if the outcome is not the one with the cache.
func (e *editedProject) plainRun(tree map[string]string) outcome {
	seen := visible(tree)
	parts := slices.Concat([]string{fmt.Sprint(len(e.env))}, e.env, e.arguments(true))
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		parts = append(parts, name, seen[name])
	}
	key := store.KeyOf(parts...)
	run, ran := e.plain[key]
	if !ran {
		run = e.uncached(tree, time.Now())
		e.plain[key] = run
	}
	return run
}

// controllerGen returns what controller-gen does with a tree: what is recorded about the run, or what a run does.
func (e *editedProject) controllerGen(tree map[string]string) outcome {
	q := peertest.Question{Args: e.arguments(false), Env: append(slices.Clone(runEnv), e.env...), Files: visible(tree), Dir: "project"}
	var a peertest.Answer
	if e.peer.Path != "" {
		a = e.peer.Run(e.T, q)
	} else {
		e.asked++
		a = peertest.Ask(e.T, fmt.Sprint(e.Name(), " ", e.asked), "controller-gen", q)
	}
	short := shortPaths(peertest.Folder)
	return outcome{a.Code, short.Replace(a.Stdout), short.Replace(a.Stderr), a.Written}
}

// runEnv is added to the environment of all runs.
var runEnv = []string{"GOPROXY=off", "GOTOOLCHAIN=local", "SOURCE_DATE_EPOCH=1767225600"}

// shortPaths removes the folder of a run from its output.
func shortPaths(dir string) *strings.Replacer {
	return strings.NewReplacer(dir+"/project/", "", dir, "DIR")
}

// run runs a program in the project below dir.
func (e *editedProject) run(dir, program string, args, env []string) outcome {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(dir, "project"), &stdout, &stderr
	cmd.Env = slices.Concat(os.Environ(), runEnv, env, e.env)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		e.fail("%v", err)
	}
	short := shortPaths(dir)
	message := short.Replace(stderr.String())
	if e.cacheFails {
		e.warned = e.warned || cacheWarning.MatchString(message)
		message = cacheWarning.ReplaceAllString(message, "")
	}
	return outcome{cmd.ProcessState.ExitCode(), short.Replace(stdout.String()), message, e.tree(dir)}
}

// tree reads the files below dir, by slash-separated path.
func (e *editedProject) tree(dir string) map[string]string {
	files := map[string]string{}
	e.must(filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if d.IsDir() {
			if rel == "project/.operon/journal" {
				return fs.SkipDir
			}
			return nil
		}
		content, err := os.ReadFile(name)
		files[filepath.ToSlash(rel)] = string(content)
		return err
	}))
	return files
}

// put writes a file and creates its folder.
func put(name, content string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(content), 0o644)
}

// cacheWarning matches the warning that nothing can be cached.
var cacheWarning = regexp.MustCompile(`(?m)^warning: the cache cannot be written, .*\[nothing-kept\]\n`)
