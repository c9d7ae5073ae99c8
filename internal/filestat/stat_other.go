//go:build !linux && !darwin

package filestat

import (
	"errors"
	"io/fs"
	"os"
)

// exists is set in the mode of every file. Without it, a regular file without permissions
// would have the mode 0.
const exists = 1 << 22

// stat reports the metadata that the go command's caches rely on: a file that is
// rewritten with the same size and modification time has the same stat.
func stat(path string, follow bool) (node, error) {
	osStat := os.Lstat
	if follow {
		osStat = os.Stat
	}
	info, err := osStat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return node{}, nil
	case err != nil:
		return node{}, err
	}
	return node{mode: uint32(info.Mode()) | exists, size: info.Size(), mtime: info.ModTime().UnixNano()}, nil
}

func (n node) isDir() bool  { return fs.FileMode(n.mode).IsDir() }
func (n node) isLink() bool { return fs.FileMode(n.mode)&fs.ModeSymlink != 0 }
