package scaffold

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/spf13/afero"
)

var errFault = errors.New("injected fault")

// faulty is a file system on which operation number at fails. It counts the
// operations that can fail: open, read, write, flush, close, rename, mkdir,
// remove, chmod, list, stat.
type faulty struct {
	afero.Fs
	at   int                    // the operation that fails, from 1; 0: none
	how  how                    // how it fails
	hook func(n int, op string) // called before operation n, under the lock

	mu    sync.Mutex
	n     int
	trace []string
}

type how int

const (
	once  how = iota // operation at fails without an effect
	short            // the same, but a write writes half and reports no error
	lies             // operation at takes effect but reports an error, as on a network
	full             // from at on, every operation that needs space fails
	dead             // from at on, every operation fails: the process is dead
)

func (h how) String() string { return [...]string{"once", "short", "lies", "full", "dead"}[h] }

// do counts an operation and runs f unless the operation fails. space reports
// whether the operation needs disk space.
func (f *faulty) do(op string, space bool, run func() error) error {
	f.mu.Lock()
	f.n++
	n := f.n
	f.trace = append(f.trace, op)
	if f.hook != nil {
		f.hook(n, op)
	}
	at := f.at
	f.mu.Unlock()
	if at == 0 || n < at {
		return run()
	}
	switch f.how {
	case once, short:
		if n == at {
			return errFault
		}
	case lies:
		if n == at {
			return errors.Join(errFault, run())
		}
	case full:
		if space {
			return errFault
		}
	case dead:
		return errFault
	}
	return run()
}

func (f *faulty) Mkdir(name string, mode os.FileMode) error {
	return f.do("mkdir "+name, true, func() error { return f.Fs.Mkdir(name, mode) })
}

func (f *faulty) Open(name string) (file afero.File, err error) {
	err = f.do("open "+name, false, func() error { file, err = f.Fs.Open(name); return err })
	return f.file(name, file, err)
}

func (f *faulty) OpenFile(name string, flag int, mode os.FileMode) (file afero.File, err error) {
	err = f.do("create "+name, true, func() error { file, err = f.Fs.OpenFile(name, flag, mode); return err })
	return f.file(name, file, err)
}

func (f *faulty) file(name string, file afero.File, err error) (afero.File, error) {
	if err == nil {
		return &faultyFile{File: file, fs: f, name: name}, nil
	}
	if file != nil {
		err = errors.Join(err, file.Close())
	}
	return nil, err
}

func (f *faulty) Remove(name string) error {
	return f.do("remove "+name, false, func() error { return f.Fs.Remove(name) })
}

func (f *faulty) RemoveAll(name string) error {
	return f.do("remove all "+name, false, func() error { return f.Fs.RemoveAll(name) })
}

func (f *faulty) Rename(from, to string) error {
	return f.do("rename "+to, false, func() error { return f.Fs.Rename(from, to) })
}

func (f *faulty) Chmod(name string, mode os.FileMode) error {
	return f.do("chmod "+name, false, func() error { return f.Fs.Chmod(name, mode) })
}

func (f *faulty) LstatIfPossible(name string) (info os.FileInfo, ok bool, err error) {
	err = f.do("stat "+name, false, func() error {
		info, ok, err = f.Fs.(afero.Lstater).LstatIfPossible(name)
		return err
	})
	return info, ok, err
}

func (f *faulty) ReadlinkIfPossible(name string) (target string, err error) {
	err = f.do("readlink "+name, false, func() error {
		target, err = f.Fs.(afero.LinkReader).ReadlinkIfPossible(name)
		return err
	})
	return target, err
}

// Methods that a plan must never use.
func (f *faulty) Create(string) (afero.File, error)          { panic("Create") }
func (f *faulty) MkdirAll(string, os.FileMode) error         { panic("MkdirAll") }
func (f *faulty) Chtimes(string, time.Time, time.Time) error { panic("Chtimes") }
func (f *faulty) Chown(string, int, int) error               { panic("Chown") }
func (f *faulty) Stat(string) (fs.FileInfo, error)           { panic("Stat") }

type faultyFile struct {
	afero.File
	fs   *faulty
	name string
}

func (f *faultyFile) Read(b []byte) (n int, err error) {
	err = f.fs.do("read "+f.name, false, func() error { n, err = f.File.Read(b); return err })
	return n, err
}

func (f *faultyFile) Write(b []byte) (n int, err error) {
	err = f.fs.do("write "+f.name, true, func() error { n, err = f.File.Write(b); return err })
	if errors.Is(err, errFault) && n == 0 {
		n, _ = f.File.Write(b[:len(b)/2])
		if f.fs.how == short {
			err = nil
		}
	}
	return n, err
}

// Sync does not flush, because flushing is slow and no test simulates a power failure.
func (f *faultyFile) Sync() error {
	return f.fs.do("flush "+f.name, true, func() error { return nil })
}

func (f *faultyFile) Readdir(n int) (infos []os.FileInfo, err error) {
	err = f.fs.do("list "+f.name, false, func() error { infos, err = f.File.Readdir(n); return err })
	return infos, err
}

// Close always closes, as close(2) does even when it reports an error.
func (f *faultyFile) Close() error {
	err := f.File.Close()
	return errors.Join(f.fs.do("close "+f.name, false, func() error { return nil }), err)
}
