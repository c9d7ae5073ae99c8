package process

import "syscall"

// endWithParent makes the kernel kill the child when operon dies by a signal
// that it cannot handle.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
