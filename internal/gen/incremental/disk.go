package incremental

import (
	"path/filepath"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/record"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/scaffold"
)

// disk has the outputs of the last run whose files on the disk are as generated.
type disk struct {
	dir       string
	current   map[string]record.Output     // outputs as generated, by path; Stat is zero if it cannot be trusted yet
	generated map[string]scaffold.Recorded // the files in .operon/generated.json, by path
}

// compareOutputs compares the outputs of the last run with the disk. It reads only files whose stat changed.
func compareOutputs(src *overlay.Project, last *record.Record) *disk {
	d := &disk{dir: src.Dir, current: map[string]record.Output{}, generated: map[string]scaffold.Recorded{}}
	for _, r := range src.Plan.Recorded() {
		d.generated[r.Path] = r
	}
	for _, o := range last.Outputs() {
		if src.Plan.OnDisk(o.Path) {
			d.compare(o)
		}
	}
	return d
}

// compare compares an output with its file.
func (d *disk) compare(o record.Output) {
	now := time.Now()
	is, err := filestat.Of(d.name(o))
	if err != nil {
		return
	}
	was := o.Stat
	if o.Stat = (filestat.Stat{}); is.Settled(now) {
		o.Stat = is
	}
	asGenerated := o.Stat.Exists() && o.Stat == was
	if !asGenerated {
		_, asGenerated = d.content(o)
	}
	if asGenerated {
		d.current[o.Path] = o
	}
}

// name returns the file of an output.
func (d *disk) name(o record.Output) string { return filepath.Join(d.dir, filepath.FromSlash(o.Path)) }

// isCurrent reports whether the file of the output is as generated.
func (d *disk) isCurrent(o record.Output) bool {
	is, ok := d.current[o.Path]
	return ok && is.Sum == o.Sum
}

// listed reports whether .operon/generated.json lists the output with its checksum, so that its
// content need not be read.
func (d *disk) listed(o record.Output) bool {
	r := d.generated[o.Path]
	return r.Generator == o.Generator && r.SHA256 == o.Sum.String()
}

// content reads the file of an output. ok is false if it is not as generated.
func (d *disk) content(o record.Output) (content []byte, ok bool) {
	content, err := input.ReadFile(d.name(o), input.Text)
	return content, err == nil && record.SumOf(content) == o.Sum
}
