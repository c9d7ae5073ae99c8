package process

import "syscall"

// endWithParent makes the kernel kill the child when operon is killed by a
// signal that it cannot handle.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
