// Package gentest has what the tests of the generators share: projects to generate from,
// plans, and controller-gen to compare with.
package gentest

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/applyconfig"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/corpus"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/testlog"
	"github.com/spf13/afero"
	"golang.org/x/mod/modfile"
	"golang.org/x/tools/txtar"
)

//go:embed zoo.txtar
var zoo []byte

// Main runs the tests of a package with less garbage collection, which makes them faster:
// this process, the go command and controller-gen are short-lived. CGO_ENABLED, which make sets to
// compile the tests, has the default of users again.
//
// The test program also generates apply configurations, as operon does: see [Program].
func Main(m *testing.M) {
	if is, code := applyconfig.Answer(os.Args[1:], os.Stderr); is {
		os.Exit(code)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		_ = os.Setenv("GOGC", "400")
	}
	_ = os.Unsetenv("CGO_ENABLED")
	testlog.Main(m)
}

// ControllerGen returns what is recorded about a successful run of controller-gen of the pinned version in dir: what it
// printed, as answers.Short, and the checksums of files that it wrote with another content than before.
func ControllerGen(t *testing.T, dir string, args ...string) (files map[string]string, stdout string) {
	t.Helper()
	q := Question(t, dir, args...)
	a := peertest.Ask(t, AnswerName(t), "controller-gen", q)
	if a.Code != 0 {
		t.Fatalf("controller-gen %v: exit code %d\n%s", args, a.Code, a.Stderr)
	}
	maps.DeleteFunc(a.Written, func(name, sum string) bool {
		before, existed := q.Files[name]
		return existed && answers.Sum(before) == sum
	})
	return a.Written, a.Stdout
}

// Question asks controller-gen about the project in dir.
func Question(t *testing.T, dir string, args ...string) peertest.Question {
	t.Helper()
	// Zoos have the go.mod of operon, of which the sources import only the libraries of Kubernetes.
	return peertest.Question{Args: args, Env: []string{"GOPROXY=off", "GOTOOLCHAIN=local"}, Files: Tree(t, dir), Modules: "k8s.io/"}
}

// AnswerName returns a name that is unique for each recorded answer of the test.
func AnswerName(t *testing.T) string {
	t.Helper()
	count, _ := asked.LoadOrStore(t.Name(), new(atomic.Int32))
	n := count.(*atomic.Int32).Add(1)
	t.Cleanup(func() { asked.Delete(t.Name()) }) // it may run again, with -count
	return fmt.Sprint(t.Name(), " ", n)
}

var asked sync.Map // the numbers of answers, by the name of the test

// Zoo writes a project with several API groups into a new folder. Its module has the
// requirements of this repository, so that it needs no network. more are txtar archives
// that add or replace files.
func Zoo(t *testing.T, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	goMod, err := os.ReadFile(repository.Path("go.mod"))
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
	goSum, err := os.ReadFile(repository.Path("go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	WriteFile(t, filepath.Join(dir, "go.mod"), goMod)
	WriteFile(t, filepath.Join(dir, "go.sum"), goSum)
	for _, text := range append([]string{string(zoo)}, more...) {
		for _, file := range txtar.Parse([]byte(text)).Files {
			WriteFile(t, filepath.Join(dir, filepath.FromSlash(file.Name)), file.Data)
		}
	}
	return dir
}

// WriteFile writes a file and creates its folder.
func WriteFile(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// NewPlan returns an empty plan for dir.
func NewPlan(t *testing.T, dir string) *scaffold.Plan {
	t.Helper()
	p, err := scaffold.New(afero.NewBasePathFs(afero.NewOsFs(), dir), scaffold.Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Generated returns the files that the plan generates, by path.
func Generated(p *scaffold.Plan) map[string]string {
	files := map[string]string{}
	for _, c := range p.Changes() {
		if c.Class == scaffold.Generated && c.After != nil {
			files[c.Path] = string(c.After)
		}
	}
	return files
}

// Tree returns the content of all files below dir, by slash-separated path.
func Tree(t *testing.T, dir string) map[string]string {
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

// Written returns the files in dir that changed since before.
func Written(t *testing.T, dir string, before map[string]string) map[string]string {
	t.Helper()
	files := Tree(t, dir)
	for name, content := range before {
		if files[name] == content {
			delete(files, name)
		}
	}
	return files
}

// Warnings formats the plan's warnings, one per line.
func Warnings(p *scaffold.Plan) string {
	var b strings.Builder
	for _, w := range p.Warnings() {
		fmt.Fprintf(&b, "%s:%d:%d: [%s] %s\n", w.File, w.Line, w.Column, w.Rule, w.Message)
	}
	return b.String()
}

// Replace replaces the first occurrence of a text in a file, which must contain it.
func Replace(t *testing.T, name, before, after string) {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(src), before) {
		t.Fatalf("%s does not contain %q:\n%s", name, before, src)
	}
	WriteFile(t, name, []byte(strings.Replace(string(src), before, after, 1)))
}

// Outcome returns the changes, the output and the warnings of a plan.
func Outcome(p *scaffold.Plan) []string {
	var lines []string
	for _, c := range p.Changes() {
		lines = append(lines, fmt.Sprintf("%s %s %s\n%s", c.Op, c.Class, c.Path, c.After))
	}
	for _, f := range p.Generated() {
		lines = append(lines, "generated "+f.Path)
	}
	return append(lines, Warnings(p), string(p.Printed()))
}

// SameInBoth compares with controller-gen for the project in dir.
func SameInBoth(t *testing.T, dir string, args []string) {
	t.Helper()
	got, _ := Operon(t, dir, args)
	sameAs(t, dir, args, got)
}

// SameWithCache is SameInBoth for a run of operon with a cache that earlier runs have filled.
// The cache does not change.
func SameWithCache(t *testing.T, dir string, args []string, cache string) {
	t.Helper()
	filled := filepath.Join(t.TempDir(), "cache")
	if err := os.CopyFS(filled, os.DirFS(cache)); err != nil {
		t.Fatal(err)
	}
	sameAs(t, dir, args, Generated(generate(t, dir, args, store.Open(filled))))
}

// sameAs compares generated files with those of controller-gen for the project in dir.
func sameAs(t *testing.T, dir string, args []string, got map[string]string) {
	t.Helper()
	if len(got) == 0 {
		t.Fatal("nothing was generated")
	}
	before := Tree(t, dir)
	want, _ := ControllerGen(t, dir, args...)
	changed := maps.Clone(got)
	maps.DeleteFunc(changed, func(name, content string) bool { return before[name] == content })
	if diff := cmp.Diff(want, answers.Sums(changed)); diff != "" {
		t.Errorf("files (-controller-gen +operon):\n%s", diff)
	}
}

// Corpus writes a corpus with the go.mod of a scaffolded project.
func Corpus(tb testing.TB, kinds int) string {
	tb.Helper()
	dir := tb.TempDir()
	files, err := corpus.Files(kinds)
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		src, err := os.ReadFile(repository.Path("testdata", "golden", "fleet", name))
		if err != nil {
			tb.Fatal(err)
		}
		files[name] = bytes.Replace(src, []byte("module example.org/fleet\n"), []byte("module "+corpus.Repo+"\n"), 1)
	}
	for name, src := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, src, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// Operon generates in dir with args, without and with cached packages, and returns the
// files and the text that are the same in both runs.
func Operon(t *testing.T, dir string, args []string) (files map[string]string, stdout string) {
	t.Helper()
	before := Tree(t, dir)
	s := store.Open(t.TempDir())
	cold := generate(t, dir, args, s)
	warm := generate(t, dir, args, s)
	for what, diff := range map[string]string{
		"what is written":   cmp.Diff(Generated(cold), Generated(warm)),
		"what is printed":   cmp.Diff(string(cold.Printed()), string(warm.Printed())),
		"what is warned of": cmp.Diff(Warnings(cold), Warnings(warm)),
	} {
		if diff != "" {
			t.Errorf("%s with cached packages (-cold +warm):\n%s", what, diff)
		}
	}
	if diff := cmp.Diff(before, Tree(t, dir)); diff != "" {
		t.Errorf("planning changed the disk:\n%s", diff)
	}
	return Generated(cold), string(cold.Printed())
}

// generate plans a run of operon with a cache.
func generate(t *testing.T, dir string, args []string, s *store.Store) *scaffold.Plan {
	t.Helper()
	// In PROJECT, these are all arguments.
	cfg := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{"args": args}}}
	p := NewPlan(t, dir)
	if err := gen.Plan(t.Context(), request.Request{Dir: dir, Project: cfg, Store: s, Program: Program(t)}, p); err != nil {
		t.Fatalf("operon %v: %v", args, err)
	}
	return p
}

// Program returns the path of this test program, for request.Request.
func Program(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// Job returns the only job of a request.
func Job(r request.Request, p *scaffold.Plan) (*request.Job, error) {
	jobs, err := request.Resolve(r, p)
	if err != nil {
		return nil, err
	}
	if len(jobs.List) != 1 {
		return nil, fmt.Errorf("the request has %d jobs", len(jobs.List))
	}
	return jobs.List[0], nil
}

// Tiger is the source of a kind that can be added to the package api/v1 of the zoo.
const Tiger = `package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Tiger is planned.
// +kubebuilder:object:root=true
type Tiger struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec LionSpec ` + "`json:\"spec\"`" + `
}
`
