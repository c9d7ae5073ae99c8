package resultcache

import (
	"maps"
	"os"
	"slices"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
)

// Run is a run of this process that changed nothing and ended well.
type Run struct {
	// Texts are what it printed, in order.
	Texts []Text
	// Looked are the paths that it looked at, whether or not something stands
	// there. Of a folder, only that it is one mattered.
	Looked []string
	// Read are files that it read, folders of which it saw the entries, and places
	// where there could have been one.
	Read []string
	// Until is when the clock makes another run of it.
	Until time.Time
}

// Record returns what answers for the run, in processes with the same command
// line to come, and the file below the folder of [Folder] that they look for it
// in. ok is false when something changed so lately that a later change might not
// show.
//
// What the run saw is what stands there now, for nothing has changed since the
// process began; a file that was removed since shows in its folder, which every
// file of the project has among the inputs.
func (run Run) Record(dir string) (file string, content []byte, ok bool) {
	k, ok := thisKey()
	if !ok {
		return "", nil, false
	}
	binary, err := os.Executable()
	if err != nil {
		return "", nil, false
	}
	inputs := map[string]input{}
	for _, path := range run.Looked {
		inputs[path] = input{path: path, kind: true}
	}
	for _, path := range append(slices.Clip(run.Read), binary) {
		inputs[path] = input{path: path}
	}
	r := record{since: begun.Unix(), until: run.Until.Unix(), texts: run.Texts}
	for _, path := range slices.Sorted(maps.Keys(inputs)) {
		in := inputs[path]
		s, err := filestat.Of(path)
		if in.stamp = in.reduce(s); err != nil || !in.stamp.Settled(begun) {
			return "", nil, false
		}
		r.inputs = append(r.inputs, in)
	}
	return k.file(dir), r.encode(k), true
}
