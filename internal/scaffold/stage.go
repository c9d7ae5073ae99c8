package scaffold

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/spf13/afero"
)

// flushTogether limits the number of open files. Some systems allow a process
// only 256.
const flushTogether = 64

// stager writes the files of a journal. It flushes durable files in parallel
// batches, because a disk combines flushes that wait at the same time.
type stager struct {
	fsys afero.Fs
	open []afero.File // written and not yet flushed
}

// durable tells write to flush a file that cannot be reproduced.
const durable = true

// step writes the files of one step. It makes the contents of existing files
// durable. New files are not, because operon can create them again, unless they
// hold text of the user.
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

// write creates a file. A durable file gets exactly mode, because it replaces a
// file with that mode; for any other file the umask applies.
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

// flush makes the written files durable.
func (o *stager) flush() error {
	errs := make([]error, len(o.open))
	var group sync.WaitGroup
	for i, f := range o.open {
		group.Go(func() { errs[i] = f.Sync() })
	}
	group.Wait()
	return errors.Join(append(errs, o.close())...)
}

// close closes files that are still open after an error.
func (o *stager) close() error {
	var errs []error
	for _, f := range o.open {
		errs = append(errs, f.Close())
	}
	o.open = nil
	return errors.Join(errs...)
}
