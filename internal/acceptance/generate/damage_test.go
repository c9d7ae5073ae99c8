//go:build unix

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

// damages are what can become of a cache: of single files, each of which may be
// spared, or of the folder.
var damages = []struct {
	name string
	file func(e *edits, name string, others []string) error
	all  func(dir string) error

	unkept bool // nothing can be kept afterwards
}{
	{name: "a bit is another", file: func(e *edits, name string, _ []string) error {
		content, err := os.ReadFile(name)
		if err == nil && len(content) > 0 {
			content[e.IntN(len(content))] ^= 1 << e.IntN(8)
		}
		return replaceFile(name, content, err)
	}},
	{name: "truncated", file: func(e *edits, name string, _ []string) error {
		content, err := os.ReadFile(name)
		return replaceFile(name, content[:e.IntN(len(content)+1)], err)
	}},
	{name: "longer", file: func(_ *edits, name string, _ []string) error {
		content, err := os.ReadFile(name)
		return replaceFile(name, append(content, content...), err)
	}},
	{name: "swapped", file: func(e *edits, name string, others []string) error {
		content, err := os.ReadFile(others[e.IntN(len(others))])
		return replaceFile(name, content, err)
	}},
	{name: "zeros", file: func(_ *edits, name string, _ []string) error {
		content, err := os.ReadFile(name)
		return replaceFile(name, make([]byte, len(content)), err)
	}},
	{name: "gone", file: func(_ *edits, name string, _ []string) error { return os.Remove(name) }},
	{name: "folders", unkept: true, file: func(_ *edits, name string, _ []string) error {
		if err := os.Remove(name); err != nil {
			return err
		}
		return put(filepath.Join(name, "x"), "x")
	}},
	{name: "dangling links", file: func(_ *edits, name string, _ []string) error {
		if err := os.Remove(name); err != nil {
			return err
		}
		return os.Symlink("nowhere", name)
	}},
	{name: "a file in place of the folder", unkept: true, all: func(dir string) error {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		return put(dir, "x")
	}},
	{name: "a folder that takes nothing", unkept: true, all: func(dir string) error {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		return os.Symlink("/proc/self", dir) // where root cannot write either
	}},
}

func replaceFile(name string, content []byte, err error) error {
	if err != nil {
		return err
	}
	return os.WriteFile(name, content, 0o600)
}

// TestDamagedCache runs operon with caches that are not what it wrote. Nobody
// sees a difference, in output or in messages, but that nothing can be kept where
// that is so; and the cache gets well again.
func TestDamagedCache(t *testing.T) {
	t.Parallel()
	e := newEdits(t, 1)
	e.check()
	for range 2 {
		e.operon(e.dir, e.cached()) // the second repeat is answered from the first
	}
	whole := e.cache
	if len(e.cacheFiles()) == 0 {
		t.Fatal("nothing was kept")
	}
	for i, d := range damages {
		e.cache = filepath.Join(t.TempDir(), "cache")
		e.must(os.CopyFS(e.cache, os.DirFS(whole)))
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
		e.unkept, e.noted = d.unkept, false
		e.check()
		e.grow(i)
		e.check()
		if d.unkept && !e.noted {
			t.Errorf("%s: nobody said that nothing can be kept", d.name)
		}
	}
}

// cached is the environment of runs with the cache.
func (e *edits) cached() []string { return []string{"OPERON_CACHE=" + e.cache} }

// cacheFiles are the files of the cache.
func (e *edits) cacheFiles() []string {
	var names []string
	e.must(filepath.WalkDir(e.cache, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	}))
	return names
}

// grow adds a field to a type that other packages refer to.
func (e *edits) grow(n int) {
	name := "project/api/ship/v1/frigate_types.go"
	before := maps.Clone(e.files)
	at := structLine.FindStringIndex(e.files[name])
	e.splice(name, at[1], at[1], fmt.Sprintf("\t// Deck %d.\n\tDeck%d string `json:\"deck%[1]d,omitempty\"`\n", n, n))
	e.write(before)
}

// TestKilledRuns kills runs that fill a cache. The next run makes of the project
// what a run without cache makes of it.
func TestKilledRuns(t *testing.T) {
	t.Parallel()
	e := newEdits(t, 2)
	e.check()
	for i := range 12 {
		if i%4 == 0 {
			e.must(os.RemoveAll(e.cache)) // all is to be written
		}
		e.grow(i)
		cmd := exec.Command("operon", append([]string{"generate"}, e.arguments(true)...)...)
		cmd.Dir = filepath.Join(e.dir, "project")
		cmd.Env = append(os.Environ(), "GOPROXY=off", "SOURCE_DATE_EPOCH=1767225600", "OPERON_CACHE="+e.cache)
		e.must(cmd.Start())
		pause := time.Duration(e.IntN(20)*e.IntN(20)) * time.Millisecond
		time.Sleep(pause)
		_ = cmd.Process.Kill() // it may be done already
		_ = cmd.Wait()
		e.log = append(e.log, fmt.Sprint("killed after ", pause))
		e.check()
	}
}

// TestConcurrentRuns lets runs share a cache: some of them a project too, while
// its sources change. Each that ends well has done its work, and one that finds
// another in its project for too long says so; what is kept then is good for the next run.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	e := newEdits(t, 3)
	other := newEdits(t, 4) // at another place, where the sources are the same
	other.cache = e.cache
	e.check()
	other.check()
	for i := range 4 {
		e.grow(i)
		other.grow(i)
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
			e.grow(10)
		}
		group.Wait()
		for _, o := range ran {
			busy := o.code == fault.CodeFailed && strings.Contains(o.stderr, "error: another operon command is running in this project\n")
			if o.code != 0 && !busy {
				e.fail("beside others a run exits with %d:\n%s", o.code, o.stderr)
			}
		}
		if !slices.ContainsFunc(ran, func(o outcome) bool { return o.code == 0 }) {
			e.fail("no run did anything")
		}
		e.log = append(e.log, fmt.Sprint("round ", i))
		e.check()
		other.check()
	}
}
