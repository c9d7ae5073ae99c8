package process

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// Detach makes cmd independent of the terminal: Ctrl-C or a closed window does not reach
// it. cmd must not be started yet. The child gets a hidden console, because otherwise each
// program that it starts would open a window.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
	}
}
