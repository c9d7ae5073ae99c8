//go:build unix

package generate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/testkit/peertest"
)

// TestEdits makes edits to a project and runs operon after each one, with one cache for all runs. The generated
// files equal what controller-gen writes in a new copy, or both fail, and everything that a user sees is the same as without
// a cache. TestRandomEdits makes other edits, and compares errors.
func TestEdits(t *testing.T) {
	t.Parallel()
	e := newEditedProject(t, 1)
	e.makeEdits(6)
	if e.passed < 4 {
		t.Errorf("%d of %d runs had no errors; choose another seed:\n%s", e.passed, e.step, strings.Join(e.log, "\n"))
	}
}

// makeEdits makes random edits to a project and checks the result of each.
func (e *editedProject) makeEdits(steps int) {
	e.Helper()
	e.check()
	if e.passed != 1 {
		e.Fatal("the project has errors before it is edited")
	}
	for e.step = 1; e.step <= steps; e.step++ {
		e.edit()
		e.check()
	}
}

// editedProject is a project and the edits to it.
type editedProject struct {
	*testing.T
	*rand.Rand
	seed   uint64
	step   int
	passed int      // the number of runs without errors
	log    []string // the edits

	dir   string // the parent of the project and of a local module
	cache string
	peer  peertest.Peer         // controller-gen, or empty if its answers are recorded
	asked int                   // the number of recorded answers
	alone bool                  // compare with runs without a cache, and not with controller-gen
	plain map[store.Key]outcome // of runs without a cache; see plainRun

	cacheFails bool // nothing can be written to the cache, so operon warns
	warned     bool // operon has warned

	start map[string]string // the first sources
	state
	good    state             // the last one without errors
	broken  bool              // there are errors now
	deleted map[string]string // what can be restored
}

// state is what a run depends on.
type state struct {
	files map[string]string // the sources, by path below dir
	env   []string
	args  map[string]string // see arguments
}

func (s state) clone() state {
	return state{maps.Clone(s.files), slices.Clone(s.env), maps.Clone(s.args)}
}

// outcome is the result of a run.
type outcome struct {
	code           int
	stdout, stderr string
	files          map[string]string // all files below dir; for controller-gen, only those it wrote
}

func newEditedProject(t *testing.T, seed uint64) *editedProject {
	return editedProjectOf(t, seed, startingFiles(t), defaultArguments)
}

func editedProjectOf(t *testing.T, seed uint64, files, args map[string]string) *editedProject {
	e := &editedProject{
		T: t, Rand: rand.New(rand.NewPCG(seed, 7)), seed: seed,
		dir: filepath.Join(t.TempDir(), "a"), cache: filepath.Join(t.TempDir(), "cache"),
		plain: map[store.Key]outcome{}, deleted: map[string]string{}, start: files,
	}
	e.state = state{files: maps.Clone(files), args: maps.Clone(args)}
	e.good = e.clone()
	return e
}

// edit makes a random edit, or reverts errors. It writes only the sources that change.
func (e *editedProject) edit() {
	before := e.clone()
	var done string
	if e.broken && e.IntN(4) > 0 {
		e.state, done = e.good.clone(), "revert errors"
		for name := range e.outputs() { // they may cause the errors
			e.must(os.Remove(e.path(name)))
		}
	}
	for done == "" {
		op := operations[e.IntN(len(operations))]
		if what := op.do(e); what != "" {
			done = op.name + " " + what
		}
	}
	e.log = append(e.log, fmt.Sprintf("%d: %s", e.step, done))
	e.write(before.files)
}

// write updates the sources on disk.
func (e *editedProject) write(before map[string]string) {
	for name := range before {
		if _, ok := e.files[name]; !ok {
			e.must(os.RemoveAll(e.path(name)))
			for dir := filepath.Dir(e.path(name)); os.Remove(dir) == nil; dir = filepath.Dir(dir) {
				continue // remove empty folders, too, as git does
			}
		}
	}
	for name, content := range e.files {
		if current, err := os.ReadFile(e.path(name)); err != nil || string(current) != content { // do not change the time of other files
			e.must(put(e.path(name), content))
		}
	}
}

func (e *editedProject) path(name string) string {
	return filepath.Join(e.dir, filepath.FromSlash(name))
}

// outputs returns the files on disk that are not sources.
func (e *editedProject) outputs() map[string]string {
	files := visible(e.tree(e.dir))
	maps.DeleteFunc(files, func(name, _ string) bool { _, source := e.files[name]; return source })
	return files
}

// check runs operon and compares the result.
func (e *editedProject) check() {
	e.Helper()
	if e.step == 0 {
		e.write(nil)
	}
	before := e.tree(e.dir)
	plain := e.plainRun(before)
	want := written(before, plain)
	if !e.alone {
		want = e.controllerGen(before)
	}
	if e.IntN(4) == 0 && want.code == 0 { // a dry run uses the cache, too
		dry := []string{"--dry-run", "--diff"}
		if diff := diffRuns(e.operon(e.dir, []string{"OPERON_CACHE=off"}, dry...), e.operon(e.dir, e.cached(), dry...)); diff != "" && !e.nondeterministic(want, e.uncached(before, time.Now()), before) {
			e.fail("a dry run: %s", diff)
		}
	}
	got := e.operon(e.dir, e.cached())
	aged := func() outcome { return e.uncached(before, time.Unix(1, 0)) }
	diff := e.compare(want, plain, before, got, aged)
	if diff != "" { // the remembered run may have one of several results
		plain = e.uncached(before, time.Now())
		diff = e.compare(want, plain, before, got, aged)
	}
	if diff != "" {
		if !e.nondeterministic(want, plain, before) {
			e.fail("%s", diff)
		}
		e.broken = true // the result depends on the order of a map
		return
	}
	if e.broken {
		return
	}
	for name := range want.files {
		delete(e.files, name)
	}
	e.good = e.clone()
	e.passed++

	e.repeat(e.IntN(3), got)
}

// written returns the result of a run with the files that it changed.
func written(before map[string]string, run outcome) outcome {
	run.files = visible(run.files)
	maps.DeleteFunc(run.files, func(name, content string) bool { return before[name] == content })
	return run
}

// cached returns the environment of runs with the cache.
func (e *editedProject) cached() []string { return []string{"OPERON_CACHE=" + e.cache} }

// repeat runs operon again, without a change since the run that had the result got.
func (e *editedProject) repeat(times int, got outcome) {
	e.Helper()
	for range times {
		time.Sleep(time.Duration(e.IntN(2)) * 40 * time.Millisecond) // with and without a recent edit
		again := e.operon(e.dir, e.cached())
		prints := e.args["output"] == "output:crd:stdout" && (e.args["only"] == "" || e.args["only"] == "crd") // then stdout has the CRDs, and stderr the report
		if !prints && again.stdout != "nothing to do\n" || prints && !strings.Contains(again.stderr, "nothing to do\n") {
			e.fail("a repeat prints\n%s%s", again.stdout, again.stderr)
		}
		if again.stderr != got.stderr { // a warning about stale files may occur only once
			got = e.operon(e.dir, []string{"OPERON_CACHE=off"})
		}
		if !prints {
			got.stdout = again.stdout
		}
		if diff := diffRuns(got, again); diff != "" {
			e.fail("a repeat: %s", diff)
		}
	}
}

// fail ends the test and prints how to repeat it.
func (e *editedProject) fail(format string, args ...any) {
	e.Helper()
	e.Fatalf("OPERON_SEED=%d OPERON_STEPS=%d\n%s\n%s", e.seed, e.step, strings.Join(e.log[max(0, len(e.log)-12):], "\n"), fmt.Sprintf(format, args...))
}

func (e *editedProject) must(err error) {
	e.Helper()
	if err != nil {
		e.fail("%v", err)
	}
}
