package process

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// Detach makes cmd, which is yet to be started, independent of the terminal:
// neither Ctrl-C nor a closed window reaches it. It gets a console that is not
// shown, or each program that it starts would open a window.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
	}
}
