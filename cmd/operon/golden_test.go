package main

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/servertest"
)

const goldenDir = "../../testdata/golden"

// TestGolden compares whole projects with testdata/golden: NAME.commands holds
// the command lines, NAME/ the tree that they make.
func TestGolden(t *testing.T) {
	for _, name := range goldenNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), name)
			runCommands(t, dir, filepath.Join(goldenDir, name+".commands"))
			got := readTree(t, dir)
			want := filepath.Join(goldenDir, name)
			if *update {
				writeTree(t, want, got)
			}
			if diff := treeDiff(readTree(t, want), got); diff != "" {
				t.Errorf("tree differs (-golden +now; `make golden` accepts it):\n%s", diff)
			}
		})
	}
}

func goldenNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(goldenDir, "*.commands"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden projects: %v", err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".commands"))
	}
	return names
}

// runCommands makes dir and runs each line of file as an operon command in it.
// Lines that start with # are comments.
func runCommands(t *testing.T, dir, file string) {
	t.Helper()
	makeDir(t, dir)
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(src)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words, err := shellquote.Split(line)
		if err != nil {
			t.Fatal(err)
		}
		operon(t, dir, words...)
	}
}

func makeDir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// operon runs the binary under test in dir and returns its stdout.
func operon(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return command(t, dir, "operon", args...)
}

// command runs a program in dir, as offline as a fresh clone may be, and
// returns its stdout.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	return commandWith(t, nil, dir, name, args...)
}

// commandWith is command with more in the environment.
func commandWith(t *testing.T, env []string, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = environment(env...)
	if name == "operon" {
		cmd.Env = append(cmd.Env, uncollected)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// uncollected lets operon keep its garbage, which is 100 MB more at its end, and
// spares it a quarter of its work.
const uncollected = "GOGC=off"

// environment is that of the commands that tests run.
func environment(more ...string) []string {
	return append(append(os.Environ(), "SOURCE_DATE_EPOCH=1767225600", "GOPROXY=off", "GOWORK=off", "GOGC=400"), more...)
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readTree returns the files below dir by slash-separated path. An executable
// file's path ends with an asterisk. The journal is no part of a project.
func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == ".operon/journal" || rel == "bin" {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		if info.Mode()&0o111 != 0 {
			rel += "*"
		}
		tree[rel] = string(content)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return tree
}

func writeTree(t *testing.T, dir string, tree map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for rel, content := range tree {
		rel, executable := strings.CutSuffix(rel, "*")
		mode := fs.FileMode(0o644)
		if executable {
			mode = 0o755
		}
		name := filepath.Join(dir, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGoldenProjects builds, vets and tests every golden project, on a real API
// server, checks that its go.mod and formatting are final, and that
// controller-gen makes the same files of it.
func TestGoldenProjects(t *testing.T) {
	t.Parallel()
	controllerGen := peertest.Find(t, "controller-gen")
	for _, name := range goldenNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(goldenDir, name)
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
				checkHooks(t, dir)
				return
			}
			checkProject(t, dir)

			files := readTree(t, dir)
			made := controllerGen.Ask(t, peertest.Question{
				Args: []string{"rbac:roleName=manager-role", "crd", "webhook", "object:headerFile=hack/boilerplate.go.txt", "paths=./...", "output:crd:artifacts:config=config/crd/bases"},
				Env:  []string{"GOPROXY=off", "GOWORK=off"}, Files: files,
			})
			if made.Code != 0 || len(made.Written) == 0 {
				t.Errorf("controller-gen: exit code %d\n%s", made.Code, made.Stderr)
			}
			again := maps.Clone(files)
			maps.Copy(again, made.Written)
			if diff := treeDiff(again, files); diff != "" {
				t.Errorf("controller-gen makes other files (-controller-gen +operon):\n%s", diff)
			}
		})
	}
}

// checkHooks runs on a project of hooks what its own CI would, in a copy: hooks may
// write.
func checkHooks(t *testing.T, from string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "operon", "hooks", "validate")
	command(t, dir, "operon", "generate", "--check")
	if _, err := os.Stat(filepath.Join(dir, "modules")); err != nil { // which have charts of their own, and roles in them
		command(t, dir, "operon", "hooks", "rbac", "--check")
	}
	command(t, dir, "operon", "hooks", "test")
	if diff := treeDiff(readTree(t, from), readTree(t, dir)); diff != "" {
		t.Errorf("the checks change files (-before +after):\n%s", diff)
	}
}

// checkProject runs on a project what its own CI would.
func checkProject(t *testing.T, dir string) {
	t.Helper()
	dir = buildProject(t, dir)
	goPasses(t, dir, "vet", "./...")
	goPasses(t, dir, "vet", "-tags=e2e", "./test/...")
	goPasses(t, dir, "mod", "tidy", "-diff")
	if out := command(t, dir, "gofmt", "-l", "."); out != "" {
		t.Errorf("gofmt would change:\n%s", out)
	}
	testProject(t, dir, "-vet=off") // all of it was vetted
}

// goPasses has the go command look at a project, and find nothing wrong. That follows
// from the files: of the same ones it is known.
func goPasses(t *testing.T, dir string, args ...string) {
	t.Helper()
	files := map[string]string{}
	for name, content := range readTree(t, dir) {
		files[strings.TrimSuffix(name, "*")] = content
	}
	a := peertest.Go(t).Ask(t, peertest.Question{
		Args: args, Env: []string{"GOPROXY=off", "GOWORK=off", "GOGC=400", "GOMEMLIMIT=off"}, Files: files,
	})
	if a.Code != 0 {
		t.Fatalf("go %s: exit code %d\n%s%s", strings.Join(args, " "), a.Code, a.Stdout, a.Stderr)
	}
}

// buildProject builds a project, and returns the copy that it built: where that is
// built already, the go command sees it.
func buildProject(t *testing.T, dir string) string {
	t.Helper()
	dir, bin, err := projecttest.Settle(dir)
	if err != nil {
		t.Fatal(err)
	}
	command(t, dir, "go", "build", "-ldflags=-s -w", "-o", bin, "./...")
	return dir
}

// testProject runs all tests of a project, and returns what they print. The go command
// has the results at hand where nothing that they depend on has changed: it does not look
// at the programs of the control plane, on which the place depends therefore.
func testProject(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	programs, err := controlPlane()
	if err != nil {
		t.Fatal(err)
	}
	if dir, _, err = projecttest.Settle(dir, programs); err != nil {
		t.Fatal(err)
	}
	out, err := goTest(t, dir, append(flags, "-v", "./...")...)
	if err != nil {
		t.Fatalf("go test: %v\n%s", err, out)
	}
	if strings.Contains(out, "--- SKIP") {
		t.Errorf("a test was skipped although the control plane is there:\n%s", out)
	}
	return out
}

// suites bounds how many projects are tested at once: each of their suites takes
// a GB of memory to link, and a control plane to run.
var suites = make(chan struct{}, 2)

// controlPlane is a sum of the programs that suites run on.
var controlPlane = sync.OnceValues(func() (string, error) { return servertest.Programs(assetsFolder()) })

// onControlPlane is the environment in which suites find the programs of a control
// plane, which may take its time to start beside others.
func onControlPlane(more ...string) []string {
	return append(more, "KUBEBUILDER_ASSETS="+assetsFolder(), "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=2m")
}

// goTest runs tests of a project on a real API server.
func goTest(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	suites <- struct{}{}
	defer func() { <-suites }()
	cmd := exec.Command("go", append([]string{"test"}, args...)...)
	cmd.Dir = dir
	cmd.Env = environment(onControlPlane()...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
