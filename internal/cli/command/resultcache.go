package command

import (
	"bytes"
	"os"
	"path/filepath"
	"time"

	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/resultcache"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/term"
)

// recording is the output of a command, in order.
type recording struct{ texts []resultcache.Chunk }

// recorder is a stream that copies its output to a recording.
type recorder struct {
	to        *os.File
	recording *recording
	errs      bool
}

func (c recorder) Write(b []byte) (int, error) {
	c.recording.texts = append(c.recording.texts, resultcache.Chunk{Stderr: c.errs, Bytes: bytes.Clone(b)})
	return c.to.Write(b)
}

// File returns the stream itself, for package term: it asks whether the stream is a
// terminal, and shows progress there that is not recorded.
func (c recorder) File() *os.File { return c.to }

// notefOnce prints a note about this run only, which is not recorded.
func (a *App) notefOnce(format string, args ...any) {
	once := *a
	if c, ok := a.Err.(recorder); ok {
		once.Err = c.to
	}
	once.Notef(format, args...)
}

// CacheResult runs a command that generates. If the command succeeds and writes nothing,
// CacheResult stores its output, which the next process with the same command line
// prints unless an input has changed. run returns the plan of the command.
func (a *App) CacheResult(run func(*App) (root string, p *scaffold.Plan, err error)) error {
	out, isFile := a.Out.(*os.File)
	errs, areFiles := a.Err.(*os.File)
	dir, err := a.CacheDir()
	if err != nil {
		return err
	}
	known := a.Process != nil && isFile && areFiles &&
		resultcache.Terminal(out) == term.IsTerminal(out) && resultcache.Terminal(errs) == term.IsTerminal(errs)
	if dir == "" || !known {
		_, _, err := run(a)
		return err
	}
	recorded := &recording{}
	other := *a
	other.Out, other.Err = recorder{out, recorded, false}, recorder{errs, recorded, true}
	root, p, err := run(&other)
	if err != nil || len(ChangesToApply(p.Changes())) > 0 {
		return err
	}
	a.storeResult(dir, root, p, recorded.texts)
	return nil
}

// storeResult stores the output of a command with the inputs of its plan.
func (a *App) storeResult(dir, root string, p *scaffold.Plan, texts []resultcache.Chunk) {
	in, ok := p.Inputs()
	if !ok {
		return
	}
	// The output may depend on the year.
	result := resultcache.Result{Output: texts, Read: in.Sources, Until: time.Date(a.Now().Year()+1, time.January, 1, 0, 0, 0, 0, time.Local)}
	for _, name := range in.Looked {
		result.Checked = append(result.Checked, filepath.Join(root, filepath.FromSlash(name)))
	}
	for _, name := range in.Listed {
		result.Read = append(result.Read, filepath.Join(root, filepath.FromSlash(name)))
	}
	for at := a.Dir; at != root; at = filepath.Dir(at) { // a new PROJECT in a nearer folder would take precedence
		result.Read = append(result.Read, filepath.Join(at, project.File))
	}
	if file, content, ok := a.Process.Encode(dir, result); ok {
		_ = store.Replace(file, content) // without the cache, the next run is only slower
	}
}
