// Package process runs child processes that never outlive what started them.
package process

import (
	"os/exec"
	"runtime"
	"time"
)

// grace is how long a child that was asked to end may take before it is killed.
const grace = 5 * time.Second

// Run starts cmd as Start does, and waits for it.
func Run(cmd *exec.Cmd) error {
	wait, err := Start(cmd)
	if err != nil {
		return err
	}
	return wait()
}

// Start starts cmd, which must come from exec.CommandContext. The child and
// everything it starts form one group: when the context ends the group is asked
// to stop, then killed after cmd.WaitDelay (5 s if that is 0), and when wait
// returns an error none of it is left. When operon itself is killed the kernel
// ends the child on Linux and the whole group on Windows; elsewhere it may live
// on. wait must be called, once.
func Start(cmd *exec.Cmd) (wait func() error, err error) {
	started, ended := make(chan error), make(chan error, 1)
	go func() {
		// Linux ends the child when the thread that started it ends, and that
		// thread must therefore outlive it.
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
	err := g.cmd.Wait()
	if err != nil {
		g.kill()
	}
	return err
}
