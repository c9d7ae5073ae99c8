package filestat

import "syscall"

func nodeOf(st *syscall.Stat_t) node {
	return node{mode: st.Mode, inode: st.Ino, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano()}
}
