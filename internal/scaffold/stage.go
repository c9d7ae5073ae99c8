package scaffold

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/afero"
)

// open creates the folders of a new journal.
func (a *transaction) open(ctx context.Context) error {
	numbers, err := a.journals()
	if err != nil {
		return err
	}
	n := 1
	if len(numbers) > 0 {
		n = numbers[len(numbers)-1] + 1
	}
	a.dir = journalPath(n)
	for _, d := range []string{stateDir, journalDir, a.dir, path.Join(a.dir, stagedDir), path.Join(a.dir, beforeDir)} {
		if err := ctx.Err(); err != nil {
			return err
		}
		missing, err := a.missing(d)
		if err != nil {
			return fileError("stat", d, err)
		}
		if !missing {
			continue
		}
		a.created = append(a.created, d) // before Mkdir: some file systems report an error although they created the folder
		if err := a.fsys.Mkdir(d, 0o755); err != nil {
			return fileError("create folder", d, err)
		}
	}
	return nil
}

// stage checks that no file changed since the plan read it. It writes the new
// content and a copy of the old content to the journal.
func (a *transaction) stage(ctx context.Context) error {
	out := stager{fsys: a.fsys}
	defer func() { _ = out.close() }()
	planned := map[string]bool{}
	for i := range a.doc.Steps {
		s := &a.doc.Steps[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.compare(s); err != nil {
			return err
		}
		if err := a.folders(s.Path, planned); err != nil {
			return err
		}
		if err := out.step(a.dir, i, *s); err != nil {
			return fileError("write", s.Path, err)
		}
	}
	if err := out.flush(); err != nil {
		return fileError("flush", a.dir, err)
	}
	return nil
}

// folders records the missing folders above name, parents first. planned holds
// the folders that are already recorded.
func (a *transaction) folders(name string, planned map[string]bool) error {
	first := len(a.doc.Dirs)
	for d := parent(name); d != "" && !a.dirs[d] && !planned[d]; d = parent(d) {
		missing, err := a.missing(d)
		if err != nil {
			return fileError("stat", d, err)
		}
		if !missing {
			break
		}
		planned[d] = true
		a.doc.Dirs = slices.Insert(a.doc.Dirs, first, d)
	}
	return nil
}

// compare returns an error if the file of a step changed since the plan read it. It sets s.found.
func (a *transaction) compare(s *step) error {
	info, err := a.lstat(s.Path)
	var now string
	if err == nil { // after lstat, so that stillUnchanged notices a change from here on
		now, err = a.hashOf(s.Path, info)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.before == nil:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fileError("read", s.Path, err)
	case now == s.Before || now == isLink && s.Op == Delete:
		s.found = info
		return nil
	}
	return changedMeanwhile(s.Path)
}

func changedMeanwhile(name string) error {
	return fault.Failed("repeat the command", "%s changed while the command was running", name)
}

// writeRecord writes the record of the journal. When it returns, everything needed to
// restore existing files is durable.
func (a *transaction) writeRecord(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	src, err := json.MarshalIndent(a.doc, "", "  ")
	if err != nil {
		return err
	}
	out := stager{fsys: a.fsys}
	defer func() { _ = out.close() }()
	pending := path.Join(a.dir, pendingFile)
	if err := out.write(pending+".tmp", append(src, '\n'), 0o644, durable); err != nil {
		return fileError("write", pending, err)
	}
	if err := out.flush(); err != nil {
		return fileError("write", pending, err)
	}
	a.recorded = true
	if err := a.fsys.Rename(pending+".tmp", pending); err != nil {
		return fileError("write", pending, err)
	}
	if slices.ContainsFunc(a.doc.Steps, func(s step) bool { return s.before != nil }) {
		return a.syncDirs()
	}
	return nil
}

// syncDirs makes the directory entries of the journal durable.
func (a *transaction) syncDirs() error {
	if runtime.GOOS == "windows" { // which cannot flush a folder
		return nil
	}
	dirs := []string{path.Join(a.dir, stagedDir), path.Join(a.dir, beforeDir)}
	for _, d := range a.created {
		dirs = append(dirs, cmp.Or(parent(d), "."))
	}
	slices.Sort(dirs)
	for _, d := range slices.Compact(dirs) {
		f, err := a.fsys.Open(d)
		if err != nil {
			return fileError("open folder", d, err)
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return fileError("flush folder", d, err)
		}
	}
	return nil
}

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
func (o *stager) step(dir string, i int, s step) error {
	staged, before := numbered(dir, stagedDir, i), numbered(dir, beforeDir, i)
	switch s.Op {
	case Create:
		return o.write(staged, s.after, s.mode, s.users)
	case Update:
		mode := s.found.Mode() & permissions
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
