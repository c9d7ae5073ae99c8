//go:build unix

package process

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Detach makes cmd, which is not started yet, independent of the terminal and
// of the parent of this process: Ctrl-C or a closed window does not reach it,
// and it does not inherit files that this process inherited. Such a file can be
// the lock of a script, or the pipe of a $(...), which ends only when no
// process holds it open.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Files that Go opens are closed in children anyway. Shells and make pass on
	// low descriptors, and not every system can list the open ones.
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
}
