package incremental

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/scaffold"
)

// disk knows which outputs of the last run are on the disk as they were generated.
type disk struct {
	dir       string
	plan      *scaffold.Plan
	current   map[string]record.Output     // outputs as generated, by path; Stat is zero if the file is too new to trust it
	generated map[string]scaffold.Recorded // the files in .operon/generated.json, by path
}

// lookAt compares outputs of the last run with the disk. It reads only files whose
// stat changed.
func lookAt(src *overlay.Project, outputs []record.Output) *disk {
	d := &disk{dir: src.Dir, plan: src.Plan, current: map[string]record.Output{}, generated: map[string]scaffold.Recorded{}}
	for _, r := range src.Plan.Recorded() {
		d.generated[r.Path] = r
	}
	var existing []record.Output
	for _, o := range outputs {
		if src.Plan.OnDisk(o.Path) {
			existing = append(existing, o)
		}
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	for part := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := part; i < len(existing); i += runtime.GOMAXPROCS(0) {
				o := existing[i]
				var ok bool
				if o.Stat, ok = d.compare(o); ok {
					mu.Lock()
					d.current[o.Path] = o
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return d
}

func (d *disk) name(o record.Output) string { return filepath.Join(d.dir, filepath.FromSlash(o.Path)) }

// compare reports whether an output is on the disk as it was generated. The stat is
// zero if the file is too new to trust it.
func (d *disk) compare(o record.Output) (is filestat.Stat, ok bool) {
	now := time.Now()
	is, err := filestat.Of(d.name(o))
	if err != nil {
		return is, false
	}
	if !is.Settled(now) {
		is = filestat.Stat{}
	}
	if is.Exists() && is == o.Stat {
		return is, true
	}
	content, err := os.ReadFile(d.name(o))
	return is, err == nil && record.SumOf(content) == o.Sum
}

// isCurrent reports whether the output is on the disk as it was generated.
func (d *disk) isCurrent(o record.Output) bool {
	is, ok := d.current[o.Path]
	return ok && is.Sum == o.Sum
}

// listed reports whether .operon/generated.json lists the output as it was generated.
func (d *disk) listed(o record.Output) bool {
	r := d.generated[o.Path]
	return r.Generator == o.Generator && r.SHA256 == o.Sum.String()
}

// content reads an output. ok is false if it is not as it was generated.
func (d *disk) content(o record.Output) (content []byte, ok bool) {
	content, err := os.ReadFile(d.name(o))
	return content, err == nil && record.SumOf(content) == o.Sum
}
