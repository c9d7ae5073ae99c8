// Package gentest has what the tests of the generators share: projects to generate from,
// plans, and controller-gen to compare with.
package gentest

import (
	"fmt"
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
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/testlog"
	"github.com/spf13/afero"
)

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

// Warnings formats the plan's warnings, one per line.
func Warnings(p *scaffold.Plan) string {
	var b strings.Builder
	for _, w := range p.Warnings() {
		fmt.Fprintf(&b, "%s:%d:%d: [%s] %s\n", w.File, w.Line, w.Column, w.Rule, w.Message)
	}
	return b.String()
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

// sameAs compares generated files with the files of controller-gen for the project in dir.
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
