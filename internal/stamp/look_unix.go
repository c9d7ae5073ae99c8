//go:build linux || darwin

package stamp

import "syscall"

func look(path string, follow bool) (node, error) {
	var st syscall.Stat_t
	stat := syscall.Lstat
	if follow {
		stat = syscall.Stat
	}
	switch err := stat(path, &st); err {
	case nil:
		return nodeOf(&st), nil
	case syscall.ENOENT, syscall.ENOTDIR:
		return node{}, nil
	default:
		return node{}, err
	}
}

func (n node) isDir() bool  { return n.mode&syscall.S_IFMT == syscall.S_IFDIR }
func (n node) isLink() bool { return n.mode&syscall.S_IFMT == syscall.S_IFLNK }
