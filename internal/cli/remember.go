package cli

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

// transcript is what a command prints, in order, as it goes to the streams.
type transcript struct{ texts []resultcache.Chunk }

// copied is a stream of which the transcript keeps a copy.
type copied struct {
	to   *os.File
	kept *transcript
	errs bool
}

func (c copied) Write(b []byte) (int, error) {
	c.kept.texts = append(c.kept.texts, resultcache.Chunk{Stderr: c.errs, Bytes: bytes.Clone(b)})
	return c.to.Write(b)
}

// File is the stream itself: package term asks whether it is a terminal, and
// shows there what is gone in the end.
func (c copied) File() *os.File { return c.to }

// onceNote is a note about this run, which says nothing about the next one.
func (a *App) onceNote(format string, args ...any) {
	once := *a
	if c, ok := a.Err.(copied); ok {
		once.Err = c.to
	}
	once.note(format, args...)
}

// remembering runs a command that generates, and keeps what it said where that
// holds until something changes: it ended well and wrote nothing. run returns its
// plan. The next process with the same command line answers from that.
func (a *App) remembering(run func(*App) (root string, p *scaffold.Plan, err error)) error {
	out, isFile := a.Out.(*os.File)
	errs, areFiles := a.Err.(*os.File)
	dir, err := a.cacheDir()
	if err != nil {
		return err
	}
	known := isFile && areFiles && resultcache.Terminal(out) == term.IsTerminal(out) && resultcache.Terminal(errs) == term.IsTerminal(errs)
	if dir == "" || !known {
		_, _, err := run(a)
		return err
	}
	kept := &transcript{}
	aside := *a
	aside.Out, aside.Err = copied{out, kept, false}, copied{errs, kept, true}
	root, p, err := run(&aside)
	if err != nil || len(writes(p.Changes())) > 0 {
		return err
	}
	a.remember(dir, root, p, kept.texts)
	return nil
}

// remember keeps what a command said that looked at what the plan did.
func (a *App) remember(dir, root string, p *scaffold.Plan, texts []resultcache.Chunk) {
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
