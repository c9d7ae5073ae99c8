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
	d := &disk{dir: src.Dir, current: make(map[string]record.Output, len(outputs)), generated: map[string]scaffold.Recorded{}}
	for _, r := range src.Plan.Recorded() {
		d.generated[r.Path] = r
	}
	var direct, linked []record.Output // without and with symbolic links in their paths
	for _, o := range outputs {
		if src.Plan.Direct(cmp.Or(o.From, o.Path)) {
			direct = append(direct, o)
		} else {
			linked = append(linked, o)
		}
	}
	for i, f := range d.lookAtAll(direct) {
		switch {
		case f.isLink:
			linked = append(linked, direct[i])
		case f.asGenerated:
			d.current[f.Path] = f.Output
		}
	}
	for _, o := range linked {
		if !src.Plan.OnDisk(cmp.Or(o.From, o.Path)) {
			continue
		}
		if f := d.look(o, true); f.asGenerated {
			d.current[f.Path] = f.Output
		}
	}
	return d
}

// found is what the disk has for an output.
type found struct {
	record.Output // with the stat of the file, or zero if it changed too recently to trust it
	asGenerated   bool
	isLink        bool
}

// lookAtAll looks at the files of outputs, several at a time. The result has their order.
func (d *disk) lookAtAll(outputs []record.Output) []found {
	files := make([]found, len(outputs))
	workers := runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	for first := range workers {
		group.Go(func() {
			for i := first; i < len(files); i += workers {
				files[i] = d.look(outputs[i], false)
			}
		})
	}
	group.Wait()
	return files
}

// look looks at the file of an output, and reads it if its stat has changed. It leaves out a symbolic link unless it
// may follow it.
func (d *disk) look(o record.Output, follow bool) found {
	now := time.Now()
	is, err := filestat.Of(d.name(o))
	if err != nil || is.IsLink() && !follow {
		return found{Output: o, isLink: err == nil}
	}
	f := found{Output: o}
	if f.Stat = (filestat.Stat{}); is.Settled(now) {
		f.Stat = is
	}
	f.asGenerated = f.Stat.Exists() && f.Stat == o.Stat
	if !f.asGenerated {
		_, f.asGenerated = d.content(o)
	}
	return f
}

// name returns the file with the content of an output.
func (d *disk) name(o record.Output) string {
	return filepath.Join(d.dir, filepath.FromSlash(cmp.Or(o.From, o.Path)))
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
