package gen

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/scaffold"
)

// disk tells of outputs whether they are on the disk as they were made.
type disk struct {
	dir    string
	plan   *scaffold.Plan
	right  map[string]record.Output     // those that are, by path; the stamp is zero where it cannot be relied on
	record map[string]scaffold.Recorded // what the project has on record, by path
}

// look looks at outputs of the last run. One whose stamp is as it was is not
// read.
func look(src *sources, outputs []record.Output) *disk {
	d := &disk{dir: src.dir, plan: src.plan, right: map[string]record.Output{}, record: map[string]scaffold.Recorded{}}
	for _, r := range src.plan.Recorded() {
		d.record[r.Path] = r
	}
	var there []record.Output
	for _, o := range outputs {
		if src.plan.OnDisk(o.Path) {
			there = append(there, o)
		}
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	for part := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := part; i < len(there); i += runtime.GOMAXPROCS(0) {
				o := there[i]
				var ok bool
				if o.Stat, ok = d.compare(o); ok {
					mu.Lock()
					d.right[o.Path] = o
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return d
}

func (d *disk) name(o record.Output) string { return filepath.Join(d.dir, filepath.FromSlash(o.Path)) }

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

// isRight reports whether the output is on the disk as it was made.
func (d *disk) isRight(o record.Output) bool {
	is, ok := d.right[o.Path]
	return ok && is.Sum == o.Sum
}

// onRecord reports whether the project has the output on record as it was made.
func (d *disk) onRecord(o record.Output) bool {
	r := d.record[o.Path]
	return r.Generator == o.Generator && r.SHA256 == o.Sum.String()
}

// content reads an output.
func (d *disk) content(o record.Output) ([]byte, bool) {
	content, err := os.ReadFile(d.name(o))
	return content, err == nil && record.SumOf(content) == o.Sum
}
