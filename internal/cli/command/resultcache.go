package command

import (
	"bytes"
	"os"
	"path/filepath"
	"time"

	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/resultcache"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/term"
)

// recording is what a command prints, in order, as it goes to the streams.
type recording struct{ texts []resultcache.Chunk }

// recorder is a stream of which the transcript keeps a copy.
type recorder struct {
	to        *os.File
	recording *recording
	errs      bool
}

func (c recorder) Write(b []byte) (int, error) {
	c.recording.texts = append(c.recording.texts, resultcache.Chunk{Stderr: c.errs, Bytes: bytes.Clone(b)})
	return c.to.Write(b)
}

// File is the stream itself: package term asks whether it is a terminal, and
// shows there what is gone in the end.
func (c recorder) File() *os.File { return c.to }

// notefOnce is a note about this run, which says nothing about the next one.
func (a *App) notefOnce(format string, args ...any) {
	once := *a
	if c, ok := a.Err.(recorder); ok {
		once.Err = c.to
	}
	once.Notef(format, args...)
}

// CacheResult runs a command that generates, and keeps what it said where that
// holds until something changes: it ended well and wrote nothing. run returns its
// plan. The next process with the same command line answers from that.
func (a *App) CacheResult(run func(*App) (root string, p *scaffold.Plan, err error)) error {
	out, isFile := a.Out.(*os.File)
	errs, areFiles := a.Err.(*os.File)
	dir, err := a.CacheDir()
	if err != nil {
		return err
	}
	known := isFile && areFiles && resultcache.Terminal(out) == term.IsTerminal(out) && resultcache.Terminal(errs) == term.IsTerminal(errs)
	if dir == "" || !known {
		_, _, err := run(a)
		return err
	}
	kept := &recording{}
	aside := *a
	aside.Out, aside.Err = recorder{out, kept, false}, recorder{errs, kept, true}
	root, p, err := run(&aside)
	if err != nil || len(ChangesToApply(p.Changes())) > 0 {
		return err
	}
	a.storeResult(dir, root, p, kept.texts)
	return nil
}

// storeResult keeps what a command said that looked at what the plan did.
func (a *App) storeResult(dir, root string, p *scaffold.Plan, texts []resultcache.Chunk) {
	in, ok := p.Inputs()
	if !ok {
		return
	}
	// Years that a header has need not be those of files.
	result := resultcache.Result{Output: texts, Read: in.Sources, Until: time.Date(a.Now().Year()+1, time.January, 1, 0, 0, 0, 0, time.Local)}
	for _, name := range in.Looked {
		result.Checked = append(result.Checked, filepath.Join(root, filepath.FromSlash(name)))
	}
	for _, name := range in.Listed {
		result.Read = append(result.Read, filepath.Join(root, filepath.FromSlash(name)))
	}
	for at := a.Dir; at != root; at = filepath.Dir(at) { // a nearer one would be the project's
		result.Read = append(result.Read, filepath.Join(at, project.File))
	}
	if file, content, ok := result.Encode(dir); ok {
		_ = store.Replace(file, content) // the next run takes its time, as this one did
	}
}
