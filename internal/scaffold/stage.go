package scaffold

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/spf13/afero"
)

// flushTogether bounds the files that are open at a time, well below the 256
// that some systems allow a process.
const flushTogether = 64

// stager writes the files of a journal. Those that must be durable are flushed
// in batches and side by side, for a disk joins flushes that wait together.
type stager struct {
	fsys afero.Fs
	open []afero.File // written and not yet flushed
}

// durable is how write treats a file that cannot be made again.
const durable = true

// step writes the files of one step. Only the content of files that existed is
// durable, here or elsewhere: a new file can be made again.
func (o *stager) step(dir string, i int, s step, mode fs.FileMode) error {
	staged, before := numbered(dir, stagedDir, i), numbered(dir, beforeDir, i)
	switch s.Op {
	case Create:
		return o.write(staged, s.after, mode, s.users)
	case Update:
		if err := o.write(before, s.before, mode, durable); err != nil {
			return err
		}
		return o.write(staged, s.after, mode|s.mode&0o111, durable)
	}
	return nil
}

// write creates a file. A durable one gets exactly the mode, as it replaces a
// file that has it; any other the mode less the umask.
func (o *stager) write(name string, content []byte, mode fs.FileMode, flush bool) error {
	f, err := o.fsys.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode.Perm())
	if err != nil {
		return err
	}
	n, err := f.Write(content)
	if err == nil && n < len(content) {
		err = io.ErrShortWrite
	}
	if err != nil || !flush {
		return errors.Join(err, f.Close())
	}
	o.open = append(o.open, f)
	if err := o.fsys.Chmod(name, mode); err != nil {
		return err
	}
	if len(o.open) == flushTogether {
		return o.flush()
	}
	return nil
}

// flush makes what was written durable.
func (o *stager) flush() error {
	errs := make([]error, len(o.open))
	var group sync.WaitGroup
	for i, f := range o.open {
		group.Go(func() { errs[i] = f.Sync() })
	}
	group.Wait()
	return errors.Join(append(errs, o.close())...)
}

// close closes what an error left open.
func (o *stager) close() error {
	var errs []error
	for _, f := range o.open {
		errs = append(errs, f.Close())
	}
	o.open = nil
	return errors.Join(errs...)
}
