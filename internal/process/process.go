// Package process runs child processes that do not outlive operon.
package process

import (
	"os/exec"
	"runtime"
	"time"
)

// grace is how long a child may take to stop before it is killed.
const grace = 5 * time.Second

// Run starts cmd like Start and waits for it.
func Run(cmd *exec.Cmd) error {
	wait, err := Start(cmd)
	if err != nil {
		return err
	}
	return wait()
}

// Start starts cmd, which must be created by exec.CommandContext. The child and its
// descendants form one group. When the context ends, Start interrupts the group, and kills
// it after cmd.WaitDelay (5 s if that is 0). After wait, no process of the group is
// left. If operon itself is killed, the kernel ends the child on Linux and the
// whole group on Windows. On other systems they can survive. The caller must call wait
// exactly once.
func Start(cmd *exec.Cmd) (wait func() error, err error) {
	started, ended := make(chan error), make(chan error, 1)
	go func() {
		// Linux ends the child when the thread that started it ends, so that
		// thread must outlive the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		g, err := start(cmd)
		started <- err
		if err == nil {
			ended <- g.wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return func() error { return <-ended }, nil
}

func start(cmd *exec.Cmd) (*group, error) {
	g := newGroup(cmd)
	cmd.Cancel = g.interrupt
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = grace
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := g.adopt(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		g.release()
		return nil, err
	}
	return g, nil
}

func (g *group) wait() error {
	defer g.release()
	defer g.kill()
	return g.cmd.Wait()
}
