//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group is a process group whose leader is the child.
type group struct{ cmd *exec.Cmd }

func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
	return &group{cmd}
}

// adopt does nothing: the child joins its group before it runs.
func (g *group) adopt() error { return nil }

// interrupt sends the signal of Ctrl-C, which lets the go command remove its work folder.
func (g *group) interrupt() error { return g.signal(syscall.SIGINT) }

func (g *group) kill() { _ = g.signal(syscall.SIGKILL) }

func (g *group) release() {}

func (g *group) signal(sig syscall.Signal) error {
	err := syscall.Kill(-g.cmd.Process.Pid, sig)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
