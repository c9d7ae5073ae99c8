// Package process runs child processes that never outlive what started them.
package process

import (
	"os/exec"
	"runtime"
	"time"
)

// grace is how long a child that was asked to end may take before it is killed.
const grace = 5 * time.Second

// Run starts cmd, which must come from exec.CommandContext, and waits for it.
// The child and everything it started form one group: when the context ends
// the group is asked to stop, then killed, and when Run returns an error none
// of it is left. When operon itself is killed the kernel ends the child on
// Linux and the whole group on Windows; elsewhere it ends with its next write.
func Run(cmd *exec.Cmd) error {
	// Linux ends the child when the thread that started it ends, and that
	// thread must therefore outlive it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	g := newGroup(cmd)
	cmd.Cancel = g.interrupt
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return err
	}
	defer g.release()
	if err := g.adopt(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return err
	}
	err := cmd.Wait()
	if err != nil {
		g.kill()
	}
	return err
}
