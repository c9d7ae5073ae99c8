package resultcache

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
)

// Result describes a successful run of a process that changed nothing.
type Result struct {
	// Output is what the run printed, in order.
	Output []Chunk
	// Checked are paths whose existence and content the run depends on. The entries of
	// a folder do not matter.
	Checked []string
	// Read are files that the run read, folders that it listed, and paths at which
	// a file would have changed the result.
	Read []string
	// Until is the time at which the result expires.
	Until time.Time
}

// Chunk is a piece of output.
type Chunk struct {
	Stderr bool // printed to stderr, not stdout
	Bytes  []byte
}

// Encode returns the cache entry for a result of the process, and the file below cache (see [Folder]) in
// which later processes with the same command line look for it. ok is false if
// the result cannot be cached, such as when an input changed too recently to tell
// whether it changes again.
//
// Encode takes the stats of the inputs after the run. That is correct because no
// input has changed since the process started: a changed file has a newer stat,
// and a removed one changes the stat of its folder, which is an input as well.
func (p *Process) Encode(cache string, r Result) (file string, content []byte, ok bool) {
	started, ok := processStart()
	if !ok {
		return "", nil, false
	}
	inputs := map[string]tracked{}
	for _, path := range r.Checked {
		inputs[path] = tracked{path: path, ignoreEntries: true}
	}
	for _, path := range append(slices.Clip(r.Read), p.Program) {
		inputs[path] = tracked{path: path}
	}
	e := entry{since: started.Unix(), until: r.Until.Unix(), output: r.Output}
	for _, path := range slices.Sorted(maps.Keys(inputs)) {
		e.inputs = append(e.inputs, inputs[path])
	}
	if !look(e.inputs, started) {
		return "", nil, false
	}
	k := p.key()
	return k.file(cache), e.encode(k), true
}

// look adds the stats of inputs, of which there can be thousands. It reports whether each of them shows all changes
// since the process started.
func look(inputs []tracked, started time.Time) bool {
	var unusable atomic.Bool
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(inputs) && !unusable.Load(); i += workers {
				in := &inputs[i]
				s, err := filestat.Of(in.path)
				if in.stat = in.relevant(s); err != nil || !in.stat.Settled(started) {
					unusable.Store(true)
				}
			}
		})
	}
	group.Wait()
	return !unusable.Load()
}
