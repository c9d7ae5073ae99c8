// Package input reads what people and other programs give to operon. It reads regular files
// up to a size, and folders without the links that lead out of them. The linter forbids other ways.
package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"
)

// The largest files that operon reads, in bytes.
const (
	Text    = 16 << 20  // what people write: PROJECT, sources, manifests, kubeconfigs
	Data    = 128 << 20 // what programs write: state, caches, archives of charts, responses
	Catalog = 1 << 30   // a file of a catalog, which can have thousands of bundles
)

// ErrIrregular is the error for a named pipe, a socket or a device.
var ErrIrregular = errors.New("not a regular file, but a pipe, a socket or a device")

// ErrOutside is the error for a link in a folder to a file outside.
var ErrOutside = errors.New("a symbolic link that is absolute, or leads out of the folder")

// ErrName is the error for the name of a file that is not in UTF-8: images and catalogs cannot have it.
var ErrName = errors.New("a name that is not in UTF-8")

// TooLarge is the error for a file that is larger than the number of bytes.
type TooLarge int64

func (t TooLarge) Error() string {
	if t >= 1<<20 {
		return fmt.Sprintf("larger than %d MiB", int64(t)>>20)
	}
	return fmt.Sprintf("larger than %d bytes", int64(t))
}

// Open opens a regular file, or a link to one. os.Open would wait until a process writes to a named pipe.
func Open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil {
		err = check(name, info)
	}
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}

// ReadFile reads a regular file, or a link to one, of at most limit bytes.
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	return read(f, name, limit)
}

// Check returns the error with which ReadFile refuses a file that exists. It does not read it.
func Check(name string, limit int64) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil
	case info.Mode().IsRegular() && info.Size() > limit:
		return &fs.PathError{Op: "read", Path: name, Err: TooLarge(limit)}
	}
	return check(name, info)
}

// ReadAll reads at most limit bytes to the end.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = TooLarge(limit)
	}
	return content, err
}

// check returns an error if a file is neither regular nor a folder. Reading a folder fails by itself.
func check(name string, info fs.FileInfo) error {
	if !info.IsDir() && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "read", Path: name, Err: ErrIrregular}
	}
	return nil
}

// read reads a file and closes it.
func read(f fs.File, name string, limit int64) ([]byte, error) {
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := check(name, info); err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Size() > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: TooLarge(limit)}
	}
	content := make([]byte, 0, info.Size()+1) // the last byte shows the end
	for {
		n, err := f.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		switch {
		case errors.Is(err, io.EOF):
			return content, nil
		case err != nil:
			return nil, err
		case int64(len(content)) > limit:
			return nil, &fs.PathError{Op: "read", Path: name, Err: TooLarge(limit)}
		case len(content) == cap(content):
			content = append(content, 0)[:len(content)]
		}
	}
}

// Folder returns the files of a folder. Links are followed inside the folder; ErrOutside is the error for others.
// Files are regular and have at most limit bytes.
func Folder(dir string, limit int64) fs.FS { return folder{dir: dir, limit: limit} }

// Sources is Folder for sources that are not published: it follows all links, as the go command does.
func Sources(dir string, limit int64) fs.FS { return folder{dir: dir, limit: limit, out: true} }

// folder implements fs.ReadFileFS, fs.StatFS and fs.ReadDirFS. It opens its folder for each operation, so that it
// has nothing to close.
type folder struct {
	dir   string
	limit int64
	out   bool // links may lead out
}

func (f folder) Open(name string) (fs.File, error) {
	return in(f, "open", name, func(files fs.FS) (fs.File, error) {
		info, err := fs.Stat(files, name)
		if err == nil {
			err = check(name, info)
		}
		if err == nil && info.Mode().IsRegular() && info.Size() > f.limit {
			err = &fs.PathError{Op: "open", Path: name, Err: TooLarge(f.limit)}
		}
		if err != nil {
			return nil, err
		}
		return files.Open(name)
	})
}

func (f folder) ReadFile(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	return read(file, name, f.limit)
}

func (f folder) Stat(name string) (fs.FileInfo, error) {
	return in(f, "stat", name, func(files fs.FS) (fs.FileInfo, error) { return fs.Stat(files, name) })
}

func (f folder) ReadDir(name string) ([]fs.DirEntry, error) {
	return in(f, "readdir", name, func(files fs.FS) ([]fs.DirEntry, error) { return fs.ReadDir(files, name) })
}

// in calls a function with the files of the folder.
func in[T any](f folder, op, name string, do func(fs.FS) (T, error)) (T, error) {
	if !utf8.ValidString(name) {
		var none T
		return none, &fs.PathError{Op: op, Path: name, Err: ErrName}
	}
	if f.out {
		return do(os.DirFS(f.dir))
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		var none T
		return none, err
	}
	defer func() { _ = root.Close() }()
	result, err := do(root.FS())
	// Package os does not export this error.
	if at, is := errors.AsType[*fs.PathError](err); is && strings.Contains(at.Err.Error(), "escapes from parent") {
		err = &fs.PathError{Op: op, Path: path.Clean(name), Err: ErrOutside}
	}
	return result, err
}
