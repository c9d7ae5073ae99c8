//go:build linux || darwin

package filestat

import (
	"errors"
	"syscall"
)

func stat(path string, follow bool) (node, error) {
	var st syscall.Stat_t
	call := syscall.Lstat
	if follow {
		call = syscall.Stat
	}
	err := call(path, &st)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return node{}, nil
	}
	if err != nil {
		return node{}, err
	}
	return nodeOf(&st), nil
}

func (n node) isDir() bool  { return n.mode&syscall.S_IFMT == syscall.S_IFDIR }
func (n node) isLink() bool { return n.mode&syscall.S_IFMT == syscall.S_IFLNK }
