//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// Detach makes cmd, which is yet to be started, independent of the terminal:
// neither Ctrl-C nor a closed window reaches it.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
