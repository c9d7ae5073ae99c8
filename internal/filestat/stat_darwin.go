package filestat

import "syscall"

func nodeOf(st *syscall.Stat_t) node {
	return node{mode: uint32(st.Mode), inode: st.Ino, size: st.Size, mtime: st.Mtimespec.Nano(), ctime: st.Ctimespec.Nano()}
}
