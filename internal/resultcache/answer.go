// Package resultcache stores the output of a command that changed nothing. If none of the
// files that the command depends on has changed since, it prints that output for the next
// run of the same command line.
//
// The answer does not lock the project. A command that writes to the project first
// creates its journal, in a folder that the result depends on: either the new
// entry invalidates the result, or the answer is the state before the write.
package resultcache

import (
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/input"
)

// Folder returns the folder for all data that operon stores between runs: OPERON_CACHE,
// or operon in the user's cache folder. It is empty if the cache is off.
func Folder(getenv func(string) string) string {
	switch dir := getenv("OPERON_CACHE"); dir {
	case "off":
		return ""
	case "":
		home := userFolder(getenv)
		if home == "" {
			return ""
		}
		return home + separator + "operon"
	default:
		return dir
	}
}

// userFolder is os.UserCacheDir for an environment. It returns "" if there is none.
func userFolder(getenv func(string) string) string {
	switch runtime.GOOS {
	case "windows":
		return getenv("LocalAppData")
	case "darwin", "ios":
		if home := getenv("HOME"); home != "" {
			return home + "/Library/Caches"
		}
		return ""
	}
	if dir := getenv("XDG_CACHE_HOME"); dir != "" {
		if !strings.HasPrefix(dir, separator) {
			return "" // a relative path is an error
		}
		return dir
	}
	if home := getenv("HOME"); home != "" {
		return home + "/.cache"
	}
	return ""
}

const separator = string(os.PathSeparator)

// Process is this process, as far as what it prints depends on it.
type Process struct {
	Program  string // the path of its binary
	Dir      string // its working folder
	Args     []string
	Environ  []string // in the form of os.Environ
	Out, Err *os.File
}

// Answer prints the stored result of the process's command line if it is still
// valid, and reports whether it did. The caller then exits with code 0. Answer
// only reads the stats of files, so that main can call it first. cache is the
// folder of [Folder].
func (p *Process) Answer(cache string) (answered bool) {
	if cache == "" || len(p.Args) == 0 || p.Args[0] != "generate" && p.Args[0] != "manifests" {
		return false
	}
	k := p.key()
	content, err := input.ReadFile(k.file(cache), input.Data)
	if err != nil {
		return false
	}
	e, ok := decode(k, content)
	now := time.Now().Unix()
	if !ok || now < e.since || now >= e.until || !unchanged(e.inputs) {
		return false
	}
	return p.print(e.output)
}

// print writes the output to the streams. It returns false if a write fails: the
// command then runs as usual and reports the error.
func (p *Process) print(output []Chunk) bool {
	for _, c := range output {
		stream := p.Out
		if c.Stderr {
			stream = p.Err
		}
		if _, err := stream.Write(c.Bytes); err != nil {
			return false
		}
	}
	return true
}

// unchanged reports whether all inputs have the same stats as before. It checks
// many inputs concurrently: a large project has thousands of files.
func unchanged(inputs []tracked) bool {
	const batch = 256
	if len(inputs) <= batch {
		return same(inputs)
	}
	var changed atomic.Bool
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4) {
		group.Go(func() {
			for !changed.Load() {
				from := int(next.Add(batch)) - batch
				if from >= len(inputs) {
					return
				}
				if !same(inputs[from:min(from+batch, len(inputs))]) {
					changed.Store(true)
				}
			}
		})
	}
	group.Wait()
	return !changed.Load()
}

func same(inputs []tracked) bool {
	for _, in := range inputs {
		now, err := filestat.Of(in.path)
		if err != nil || in.relevant(now) != in.stat {
			return false
		}
	}
	return true
}
