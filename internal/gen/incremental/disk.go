package incremental

import (
	"cmp"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/scaffold"
)

// disk has the outputs of the last run whose files on the disk are as generated.
type disk struct {
	dir       string
	plan      *scaffold.Plan
	current   map[string]record.Output     // outputs as generated, by path; Stat is zero if it cannot be trusted yet
	generated map[string]scaffold.Recorded // the files in .operon/generated.json, by path
}

// compareOutputs compares the outputs of the last run, whose record may be nil, with the disk. It reads only
// files whose stat changed.
func compareOutputs(src *overlay.Project, last *record.Record) *disk {
	var outputs []record.Output
	if last != nil {
		outputs = last.Outputs()
	}
	d := &disk{dir: src.Dir, plan: src.Plan, current: make(map[string]record.Output, len(outputs)), generated: map[string]scaffold.Recorded{}}
	for _, r := range src.Plan.Recorded() {
		d.generated[r.Path] = r
	}
	type compared struct {
		record.Output
		direct bool // no symbolic link is in the path of its folder
		link   bool // the file is one, which only the plan may follow
		ok     bool
	}
	look := func(o *compared) {
		now := time.Now()
		is, err := filestat.Of(d.name(o.Output))
		if o.link = o.direct && is.IsLink(); o.link || err != nil {
			o.ok = false
			return
		}
		o.Stat, o.ok = d.compare(o.Output, is, now)
	}
	all := make([]compared, len(outputs))
	for i, o := range outputs {
		name := cmp.Or(o.From, o.Path)
		all[i] = compared{Output: o, direct: src.Plan.Direct(name)}
		all[i].ok = all[i].direct || src.Plan.OnDisk(name)
	}
	var group sync.WaitGroup
	for part := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := part; i < len(all); i += runtime.GOMAXPROCS(0) {
				if all[i].ok {
					look(&all[i])
				}
			}
		})
	}
	group.Wait()
	for _, o := range all {
		if o.link && src.Plan.OnDisk(cmp.Or(o.From, o.Path)) {
			o.direct = false
			look(&o)
		}
		if o.ok {
			d.current[o.Path] = o.Output
		}
	}
	return d
}

// name returns the file with the content of an output.
func (d *disk) name(o record.Output) string {
	return filepath.Join(d.dir, filepath.FromSlash(cmp.Or(o.From, o.Path)))
}

// compare reports whether the file of an output, whose stat was is at a time, is as generated. trusted is the stat,
// or zero if the file changed too recently to trust it.
func (d *disk) compare(o record.Output, is filestat.Stat, now time.Time) (trusted filestat.Stat, ok bool) {
	if is.Settled(now) {
		trusted = is
	}
	if trusted.Exists() && trusted == o.Stat {
		return trusted, true
	}
	content, err := filestat.ReadFile(d.name(o))
	return trusted, err == nil && record.SumOf(content) == o.Sum
}

// isCurrent reports whether the file of the output is as generated.
func (d *disk) isCurrent(o record.Output) bool {
	is, ok := d.current[o.Path]
	return ok && is.Sum == o.Sum
}

// listed reports whether .operon/generated.json lists the output with its checksum, so that its
// content need not be read.
func (d *disk) listed(o record.Output) bool {
	r := d.generated[o.Path]
	return o.From == "" && r.Generator == o.Generator && r.SHA256 == o.Sum.String()
}

// content reads the file of an output. ok is false if it is not as generated.
func (d *disk) content(o record.Output) (content []byte, ok bool) {
	content, err := filestat.ReadFile(d.name(o))
	return content, err == nil && record.SumOf(content) == o.Sum
}
