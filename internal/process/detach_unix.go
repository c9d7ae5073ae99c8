//go:build unix

package process

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Detach makes cmd, which is yet to be started, independent of the terminal and
// of whatever started this process: neither Ctrl-C nor a closed window reaches
// it, and it gets no open file that this process was given itself. Such a file
// may be a lock of a script, or the pipe of a $(...) that ends when nobody holds
// it any more.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// What Go opens is closed in children anyway. Shells and make hand on low
	// numbers, and not every system lists those that are open.
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
}
