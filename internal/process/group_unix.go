//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group is a process group with the child as its leader.
type group struct{ cmd *exec.Cmd }

func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
	return &group{cmd}
}

// adopt has nothing to do: the child joined its group before it ran.
func (g *group) adopt() error { return nil }

// interrupt is what Ctrl-C would do; the go command then removes its work folder.
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
