package assets

import (
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/operon-dev/operon/internal/input"
)

var (
	errNotRegular    = errors.New("is not a file")
	errNotExecutable = errors.New("is not executable")
	errTruncated     = errors.New("is only partly written")
)

// checkProgram reports why the file at path is not a program that can run. The error
// is fs.ErrNotExist if there is no file. checkProgram does not run the program, so
// that it is fast and has no side effects.
func checkProgram(path string) error {
	if err := isExecutable(path); err != nil {
		return err
	}
	f, err := input.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	need, err := imageSize(f)
	if err != nil || info.Size() == 0 || info.Size() < need {
		return errTruncated
	}
	return nil
}

// isExecutable checks that path is a regular file with an executable bit. Windows has
// no such bit; there the extension .exe suffices.
func isExecutable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fs.ErrNotExist
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errNotRegular
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return errNotExecutable
	}
	return nil
}

// imageSize returns the least size in bytes of a file with these ELF, Mach-O or PE
// headers. It returns 0 for other files, such as wrapper scripts. An error means that
// the headers themselves are incomplete. setup-envtest unpacks into the final folder,
// so only the size identifies a download that is in progress or was killed.
func imageSize(r io.ReaderAt) (int64, error) {
	var magic [4]byte
	if _, err := r.ReadAt(magic[:], 0); err != nil {
		return 0, err
	}
	var end uint64
	upTo := func(offset, size uint64) { end = max(end, offset+size) }
	switch {
	case string(magic[:]) == elf.ELFMAG:
		f, err := elf.NewFile(r)
		if err != nil {
			return 0, err
		}
		for _, p := range f.Progs {
			upTo(p.Off, p.Filesz)
		}
	case binary.LittleEndian.Uint32(magic[:]) == macho.Magic64:
		f, err := macho.NewFile(r)
		if err != nil {
			return 0, err
		}
		for _, l := range f.Loads {
			if s, ok := l.(*macho.Segment); ok {
				upTo(s.Offset, s.Filesz)
			}
		}
	case string(magic[:2]) == "MZ":
		f, err := pe.NewFile(r)
		if err != nil {
			return 0, err
		}
		for _, s := range f.Sections {
			upTo(uint64(s.Offset), uint64(s.Size))
		}
	}
	return int64(min(end, 1<<62)), nil
}
