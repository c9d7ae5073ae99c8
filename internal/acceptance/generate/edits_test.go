//go:build unix

package generate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/testkit/peertest"
)

// TestEdits changes a project at random, step after step, and runs operon after
// each one, with a cache that it keeps all the while. Whatever changed, the
// outputs are those of controller-gen in a fresh copy, or the errors are; and
// in all that a user sees it is as if there were no cache.
//
// OPERON_STEPS says how many steps, and OPERON_SEED which.
func TestEdits(t *testing.T) {
	t.Parallel()
	steps, seeds := number(t, "OPERON_STEPS", 25), []uint64{1, 2}
	if seed := number(t, "OPERON_SEED", 0); seed > 0 {
		seeds = []uint64{uint64(seed)}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			e := newEdits(t, seed)
			e.check()
			if e.fine != 1 {
				t.Fatal("the project has errors before it is edited")
			}
			for e.step = 1; e.step <= steps; e.step++ {
				e.edit()
				e.check()
			}
			t.Logf("%d of %d runs met no error", e.fine, e.step)
		})
	}
}

func number(t *testing.T, variable string, preset int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return preset
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// edits is a project under change.
type edits struct {
	*testing.T
	*rand.Rand
	seed uint64
	step int
	fine int      // runs without errors
	log  []string // what was done, step by step

	dir   string // holds the project, and the module beside it
	cache string
	peer  peertest.Peer // controller-gen

	unkept bool // the cache takes nothing, which operon says
	noted  bool // it has said so

	start map[string]string // the sources that there were
	state
	good    state             // the last one without errors
	broken  bool              // there are errors now
	deleted map[string]string // what can be restored
}

// state is all that a run depends on.
type state struct {
	files map[string]string // the sources, by path below dir
	env   []string
	args  map[string]string // see arguments
}

func (s state) clone() state {
	return state{maps.Clone(s.files), slices.Clone(s.env), maps.Clone(s.args)}
}

// outcome is what came of a run.
type outcome struct {
	code           int
	stdout, stderr string
	files          map[string]string // below dir; of controller-gen only those it wrote
}

func newEdits(t *testing.T, seed uint64) *edits {
	return editsOf(t, seed, startingFiles(t), usualArguments)
}

func editsOf(t *testing.T, seed uint64, files, args map[string]string) *edits {
	e := &edits{
		T: t, Rand: rand.New(rand.NewPCG(seed, 7)), seed: seed,
		dir: filepath.Join(t.TempDir(), "a"), cache: filepath.Join(t.TempDir(), "cache"),
		peer: peertest.Find(t, "controller-gen"), deleted: map[string]string{}, start: files,
	}
	e.state = state{files: maps.Clone(files), args: maps.Clone(args)}
	e.good = e.clone()
	return e
}

// edit does one thing at random, or takes errors back. It writes the sources,
// those that changed alone.
func (e *edits) edit() {
	before := e.clone()
	var done string
	if e.broken && e.IntN(4) > 0 {
		e.state, done = e.good.clone(), "take errors back"
		for name := range e.outputs() { // which may be what is wrong
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

// write brings the disk from the sources that it has to those of the state.
func (e *edits) write(before map[string]string) {
	for name := range before {
		if _, ok := e.files[name]; !ok {
			e.must(os.RemoveAll(e.path(name)))
			for dir := filepath.Dir(e.path(name)); os.Remove(dir) == nil; dir = filepath.Dir(dir) {
				continue // empty folders go too, as they do in git
			}
		}
	}
	for name, content := range e.files {
		if there, err := os.ReadFile(e.path(name)); err != nil || string(there) != content { // else it is there, with its time
			e.must(put(e.path(name), content))
		}
	}
}

func (e *edits) path(name string) string { return filepath.Join(e.dir, filepath.FromSlash(name)) }

// outputs are the files on the disk that are no sources.
func (e *edits) outputs() map[string]string {
	files := visible(e.tree(e.dir))
	maps.DeleteFunc(files, func(name, _ string) bool { _, source := e.files[name]; return source })
	return files
}

// check runs operon and compares.
func (e *edits) check() {
	e.Helper()
	if e.step == 0 {
		e.write(nil)
	}
	before := e.tree(e.dir)
	want := e.controllerGen(before, peertest.Peer.Ask)
	plain := e.uncached(before, time.Now())
	if e.IntN(4) == 0 && want.code == 0 { // what nobody applies may be kept as well
		dry := []string{"--dry-run", "--diff"}
		if diff := unlike(e.operon(e.dir, []string{"OPERON_CACHE=off"}, dry...), e.operon(e.dir, e.cached(), dry...)); diff != "" && !e.undecided(want, plain, before) {
			e.fail("a dry run: %s", diff)
		}
	}
	got := e.operon(e.dir, e.cached())
	aged := func() outcome { return e.uncached(before, time.Unix(1, 0)) }
	diff := e.compare(want, plain, before, got, aged)
	if diff != "" { // what it answered once may be one of several answers
		want = e.controllerGen(before, peertest.Peer.Run)
		diff = e.compare(want, plain, before, got, aged)
	}
	if diff != "" {
		if !e.undecided(want, plain, before) {
			e.fail("%s", diff)
		}
		e.broken = true // it depends on the order of a map
		return
	}
	if e.broken {
		return
	}
	for name := range want.files {
		delete(e.files, name)
	}
	e.good = e.clone()
	e.fine++

	e.repeat(e.IntN(3), got)
}

// repeat runs operon again, and again, where nothing has changed since a run.
func (e *edits) repeat(times int, got outcome) {
	e.Helper()
	for range times {
		time.Sleep(time.Duration(e.IntN(2)) * 40 * time.Millisecond) // no edit was just now, or it was
		again := e.operon(e.dir, e.cached())
		prints := e.args["output"] == "output:crd:stdout" && (e.args["only"] == "" || e.args["only"] == "crd") // the report is on stderr then
		if !prints && again.stdout != "nothing to do\n" || prints && !strings.Contains(again.stderr, "nothing to do\n") {
			e.fail("a repeat prints\n%s%s", again.stdout, again.stderr)
		}
		if again.stderr != got.stderr { // what is stale may be told once
			got = e.operon(e.dir, []string{"OPERON_CACHE=off"})
		}
		if !prints {
			got.stdout = again.stdout
		}
		if diff := unlike(got, again); diff != "" {
			e.fail("a repeat: %s", diff)
		}
	}
}

// fail ends the test and tells how to see it again.
func (e *edits) fail(format string, args ...any) {
	e.Helper()
	e.Fatalf("OPERON_SEED=%d OPERON_STEPS=%d\n%s\n%s", e.seed, e.step, strings.Join(e.log[max(0, len(e.log)-12):], "\n"), fmt.Sprintf(format, args...))
}

func (e *edits) must(err error) {
	e.Helper()
	if err != nil {
		e.fail("%v", err)
	}
}
