//go:build unix

package process

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Detach makes cmd independent of the terminal and of the parent of this process. cmd must
// not be started yet. Ctrl-C or a closed window does not reach the child, and it does not
// inherit the files that this process inherited. Such a file can be the lock of a script,
// or the pipe of a $(...), which ends only when no process has it open.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Go already closes the files that it opens in children. Shells and make pass on low
	// descriptors, and not every system can list the open ones.
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
}
