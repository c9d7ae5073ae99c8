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
)

var (
	errNotRegular    = errors.New("is not a file")
	errNotExecutable = errors.New("is not executable")
	errTruncated     = errors.New("is only partly written")
)

// checkProgram reports why the file at path cannot be a program to run. It
// opens the file and does not run it, so that asking for a path stays cheap and
// without side effects. An fs.ErrNotExist says that there is none.
func checkProgram(path string) error {
	if err := isExecutable(path); err != nil {
		return err
	}
	f, err := os.Open(path)
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

// isExecutable checks the kind of file and its mode. Windows has no such mode
// bit; there the .exe of the name says it.
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

// imageSize returns the number of bytes that an ELF, Mach-O or PE image says it
// is loaded from, or 0 for anything else (a wrapper script is as good as a
// program). An error says that the image's own tables are cut off.
// setup-envtest unpacks straight into the final folder, so a download in
// progress or one that was killed shows itself only by this.
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
