//go:build testall

package e2e

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/operon-dev/operon/internal/process"
)

// child is a process that ends with the tests at the latest. It does not receive their
// Ctrl-C, so that the tests can end their processes in order.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // how it ended, once done is closed
}

func start(name string, prepare func(*exec.Cmd)) (*child, error) {
	c := &child{cmd: exec.CommandContext(context.Background(), name), done: make(chan struct{})}
	prepare(c.cmd)
	wait, err := process.Start(c.cmd)
	if err != nil {
		return nil, err
	}
	go func() {
		c.err = wait()
		close(c.done)
	}()
	return c, nil
}

// stop asks the process to end, as a kubelet would, and kills it when it does not.
func (c *child) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-c.done:
	case <-time.After(20 * time.Second):
		c.kill()
	}
}

func (c *child) kill() {
	_ = c.cmd.Process.Signal(os.Kill)
	<-c.done
}
