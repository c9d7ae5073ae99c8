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
	"sync"
	"sync/atomic"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
)

// Folder returns the folder for all data that operon stores between runs: OPERON_CACHE,
// or operon in the user's cache folder. It is empty if the cache is off.
func Folder(getenv func(string) string) string {
	switch dir := getenv("OPERON_CACHE"); dir {
	case "off":
		return ""
	case "":
		home, err := os.UserCacheDir()
		if err != nil {
			return "" // no home folder: store nothing
		}
		return home + string(os.PathSeparator) + "operon"
	default:
		return dir
	}
}

// Answer prints the stored result of this process's command line if it is still
// valid, and reports whether it did. The caller then exits with code 0. Answer
// only reads the arguments, the environment and the stats of files, so that main
// can call it first.
func Answer() (answered bool) {
	if len(os.Args) < 2 || os.Args[1] != "generate" && os.Args[1] != "manifests" {
		return false
	}
	dir := Folder(os.Getenv)
	k, ok := processKey()
	if dir == "" || !ok {
		return false
	}
	content, err := filestat.ReadFile(k.file(dir))
	if err != nil {
		return false
	}
	e, ok := decode(k, content)
	now := time.Now().Unix()
	if !ok || now < e.since || now >= e.until || !unchanged(e.inputs) {
		return false
	}
	return printOutput(e.output)
}

// printOutput writes the output to the streams. It returns false if a write fails: the
// command then runs as usual and reports the error.
func printOutput(output []Chunk) bool {
	for _, c := range output {
		stream := os.Stdout
		if c.Stderr {
			stream = os.Stderr
		}
		if _, err := stream.Write(c.Bytes); err != nil {
			return false
		}
	}
	return true
}

// unchanged reports whether all inputs have the same stats as before. It checks
// many inputs concurrently: a large project has thousands of files.
func unchanged(inputs []input) bool {
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

func same(inputs []input) bool {
	for _, in := range inputs {
		now, err := filestat.Of(in.path)
		if err != nil || in.relevant(now) != in.stat {
			return false
		}
	}
	return true
}
