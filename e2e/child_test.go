package e2e

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// child is a process that does not outlive the tests.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // how it ended, once done is closed
}

// start starts cmd in a process group of its own, out of reach of Ctrl-C: the
// tests end it in their order.
func start(cmd *exec.Cmd) (*child, error) {
	cmd.SysProcAttr = attributes()
	c := &child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux ends the child with the thread that started it.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(c.done)
		}
	}()
	return c, <-started
}

// stop asks the process to end, as a kubelet would, and kills it when it does not.
func (c *child) stop() {
	c.end(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(20 * time.Second):
		c.kill()
	}
}

func (c *child) kill() {
	c.end(os.Kill)
	<-c.done
}

// end sends a signal; that the process has ended already is no matter.
func (c *child) end(s os.Signal) { _ = c.cmd.Process.Signal(s) }
