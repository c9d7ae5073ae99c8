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
func WriteBytes(name string, content []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(content))
		return err
	})
}

func replace(name string, write func(io.Writer) error) error {
	mode := fs.FileMode(0o644)
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return toDevice(name, write)
	case err == nil:
		mode = info.Mode().Perm()
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	part := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text()[:8])
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part) }()
	if err := errors.Join(write(file), file.Close()); err != nil {
		return err
	}
	if info != nil {
		if err := os.Chmod(part, mode); err != nil { // the umask cut the mode
			return err
		}
	}
	return os.Rename(part, name)
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
