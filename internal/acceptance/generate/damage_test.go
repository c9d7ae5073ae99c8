//go:build unix && testall

package generate

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/fault"
)

// damages are the ways to damage a cache: some of its files, or the whole folder.
var damages = []struct {
	name string
	file func(e *editedProject, name string, others []string) error
	all  func(dir string) error

	cacheFails bool // nothing can be written to the cache afterwards
}{
	{name: "flipped bit", file: func(e *editedProject, name string, _ []string) error {
		content, err := os.ReadFile(name)
		if err == nil && len(content) > 0 {
			content[e.IntN(len(content))] ^= 1 << e.IntN(8)
		}
		return replaceFile(name, content, err)
	}},
	{name: "truncated", file: func(e *editedProject, name string, _ []string) error {
		content, err := os.ReadFile(name)
		return replaceFile(name, content[:e.IntN(len(content)+1)], err)
	}},
	{name: "doubled", file: func(_ *editedProject, name string, _ []string) error {
		content, err := os.ReadFile(name)
		return replaceFile(name, append(content, content...), err)
	}},
	{name: "swapped", file: func(e *editedProject, name string, others []string) error {
		content, err := os.ReadFile(others[e.IntN(len(others))])
		return replaceFile(name, content, err)
	}},
	{name: "zeros", file: func(_ *editedProject, name string, _ []string) error {
		content, err := os.ReadFile(name)
		return replaceFile(name, make([]byte, len(content)), err)
	}},
	{name: "deleted", file: func(_ *editedProject, name string, _ []string) error { return os.Remove(name) }},
	{name: "folders in place of files", file: func(_ *editedProject, name string, _ []string) error {
		if err := os.Remove(name); err != nil {
			return err
		}
		return put(filepath.Join(name, "x"), "x")
	}},
	{name: "dangling links", file: func(_ *editedProject, name string, _ []string) error {
		if err := os.Remove(name); err != nil {
			return err
		}
		return os.Symlink("nowhere", name)
	}},
	{name: "a file in place of the folder", cacheFails: true, all: func(dir string) error {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		return put(dir, "x")
	}},
	{name: "a folder that cannot be written", cacheFails: true, all: func(dir string) error {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		return os.Symlink("/proc/self", dir) // even root cannot write there
	}},
}

func replaceFile(name string, content []byte, err error) error {
	if err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o600)
}

// TestDamagedCache runs operon with damaged caches. Output and messages are the same as
// without damage, except for a warning when nothing can be written. The next runs repair
// the cache.
func TestDamagedCache(t *testing.T) {
	t.Parallel()
	e := newEditedProject(t, 1)
	e.alone = true
	e.check()
	for range 2 {
		e.operon(e.dir, e.cached()) // the second repeat uses the result of the first
	}
	intact := e.cache
	if len(e.cacheFiles()) == 0 {
		t.Fatal("nothing was cached")
	}
	for i, d := range damages {
		e.cache = filepath.Join(t.TempDir(), "cache")
		e.must(os.CopyFS(e.cache, os.DirFS(intact)))
		if d.all != nil {
			e.must(d.all(e.cache))
		} else {
			files := e.cacheFiles()
			for _, name := range files {
				if e.IntN(3) > 0 {
					e.must(d.file(e, name, files))
				}
			}
		}
		e.log = append(e.log, d.name)
		e.cacheFails, e.warned = d.cacheFails, false
		e.check()
		e.addDeck(i)
		e.check()
		if d.cacheFails && !e.warned {
			t.Errorf("%s: no warning that nothing can be cached", d.name)
		}
	}
}

// cacheFiles lists the files of the cache.
func (e *editedProject) cacheFiles() []string {
	var names []string
	e.must(filepath.WalkDir(e.cache, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	}))
	return names
}

// addDeck adds a field to a type that other packages refer to.
func (e *editedProject) addDeck(n int) {
	name := "project/api/ship/v1/frigate_types.go"
	before := maps.Clone(e.files)
	at := structLine.FindStringIndex(e.files[name])
	e.splice(name, at[1], at[1], fmt.Sprintf("\t// Deck %d.\n\tDeck%d string `json:\"deck%[1]d,omitempty\"`\n", n, n))
	e.write(before)
}

// TestKilledRuns kills runs that fill a cache. The next run has the same result as a run
// without a cache.
func TestKilledRuns(t *testing.T) {
	t.Parallel()
	e := newEditedProject(t, 2)
	e.alone = true
	e.check()
	for i := range 12 {
		if i%4 == 0 {
			e.must(os.RemoveAll(e.cache)) // everything must be written
		}
		e.addDeck(i)
		cmd := exec.Command("operon", append([]string{"generate"}, e.arguments(true)...)...)
		cmd.Dir = filepath.Join(e.dir, "project")
		cmd.Env = append(os.Environ(), "GOPROXY=off", "SOURCE_DATE_EPOCH=1767225600", "OPERON_CACHE="+e.cache)
		e.must(cmd.Start())
		pause := time.Duration(e.IntN(20)*e.IntN(20)) * time.Millisecond
		time.Sleep(pause)
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		e.log = append(e.log, fmt.Sprint("killed after ", pause))
		e.check()
	}
}

// TestConcurrentRuns runs operon several times at once with one cache, some of the runs in
// one project whose sources change. Each run succeeds, or reports that another one holds
// the project for too long. Afterwards, the cache is valid.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	e := newEditedProject(t, 3)
	other := newEditedProject(t, 4) // the same sources in another folder
	other.cache, other.plain = e.cache, e.plain
	e.alone, other.alone = true, true
	e.check()
	other.check()
	for i := range 4 {
		e.addDeck(i)
		other.addDeck(i)
		if i%2 == 0 {
			e.must(os.RemoveAll(e.cache))
		}
		var group sync.WaitGroup
		ran := make([]outcome, 4)
		for n := range ran {
			group.Go(func() {
				dir := []string{e.dir, other.dir}[n%2]
				time.Sleep(time.Duration(n/2*30) * time.Millisecond)
				ran[n] = e.operon(dir, e.cached())
			})
		}
		if i == 3 {
			time.Sleep(40 * time.Millisecond)
			e.addDeck(10)
		}
		group.Wait()
		for _, o := range ran {
			busy := o.code == fault.CodeFailed && strings.Contains(o.stderr, "error: another operon command is running in this project\n")
			if o.code != 0 && !busy {
				e.fail("one of several runs exits with %d:\n%s", o.code, o.stderr)
			}
		}
		if !slices.ContainsFunc(ran, func(o outcome) bool { return o.code == 0 }) {
			e.fail("no run succeeded")
		}
		e.log = append(e.log, fmt.Sprint("round ", i))
		e.check()
		other.check()
	}
}
