// Package atomicfile writes files that users name: the whole content, or nothing.
package atomicfile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/operon-dev/operon/internal/fault"
)

// Write replaces a file with what write writes. If it fails, the file is as before. What is no
// regular file, such as /dev/stdout, is written directly.
func Write(name string, write func(io.Writer) error) error {
	if err := replace(name, write); err != nil {
		return Explain(name, err)
	}
	return nil
}

// WriteBytes replaces the content of a file.
func WriteBytes(name string, content []byte) error { return Write(name, writerOf(content)) }

// WritePrivate replaces a file with one that only the user can read. It replaces a link, not the
// target.
func WritePrivate(name string, content []byte) error {
	s, err := stage(name, 0o600, writerOf(content))
	if err == nil {
		err = s.Place()
	}
	if err != nil {
		return Explain(name, err)
	}
	return nil
}

func writerOf(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(content))
		return err
	}
}

func replace(name string, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return toDevice(name, write)
	}
	s, err := stageLike(name, write)
	if err != nil {
		return err
	}
	return s.Place()
}

// Staged is the new content of a file, in a temporary file beside it.
type Staged struct{ part, name string }

// Stage stores the new content of a file. To replace several files, stage all of them first: a full
// disk then changes none. The errors are the file system's.
func Stage(name string, content []byte) (Staged, error) { return stageLike(name, writerOf(content)) }

// Place replaces the file.
func (s Staged) Place() error {
	err := os.Rename(s.part, s.name)
	if err != nil {
		s.Discard()
	}
	return err
}

// Discard removes the content, unless it is in place.
func (s Staged) Discard() { _ = os.Remove(s.part) }

// stageLike stages content with the mode of the existing file. It follows links.
func stageLike(name string, write func(io.Writer) error) (Staged, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return stage(name, 0o644, write)
	}
	if err != nil {
		return Staged{}, err
	}
	if name, err = filepath.EvalSymlinks(name); err != nil {
		return Staged{}, err
	}
	s, err := stage(name, info.Mode().Perm(), write)
	if err != nil {
		return Staged{}, err
	}
	if err := os.Chmod(s.part, info.Mode().Perm()); err != nil { // the umask cut the mode
		s.Discard()
		return Staged{}, err
	}
	return s, nil
}

func stage(name string, mode fs.FileMode, write func(io.Writer) error) (Staged, error) {
	s := Staged{filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text()[:8]), name}
	file, err := os.OpenFile(s.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return Staged{}, err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		s.Discard()
		return Staged{}, err
	}
	return s, nil
}

func toDevice(name string, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// Explain returns an error of the file system as one that users see. Other errors stay as they are.
func Explain(name string, err error) error {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return err
	}
	hint := ""
	switch number {
	case syscall.ENOENT, syscall.ENOTDIR:
		hint = "name a file in a folder that exists"
	case syscall.EISDIR:
		hint = "name a file"
	case syscall.ENOSPC, syscall.EDQUOT:
		hint = "free some space, or name a file on another disk"
	case syscall.EACCES, syscall.EPERM, syscall.EROFS:
		hint = "name a file in a folder that you can write to"
	}
	return fault.Failed(hint, "cannot write %s: %v", name, number)
}

// MakeFolder makes a folder with those around it, and returns the outermost one that is new.
func MakeFolder(folder string) (made string, err error) {
	for at := folder; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = at
	}
	return made, os.MkdirAll(folder, 0o755)
}
