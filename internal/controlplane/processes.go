package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/process"
)

const (
	// A program that exits within quickExit of its start, maxQuickExits times in a
	// row, ends the control plane.
	quickExit     = 10 * time.Second
	maxQuickExits = 5
	// backoff is added to the pause before each restart.
	backoff = 200 * time.Millisecond
	// grace is how long the programs may take to exit before they are killed. They save
	// nothing that is kept, and the API server would wait a minute for open watches.
	grace = 100 * time.Millisecond
)

// errPortTaken reports that another process took the port of the API server.
var errPortTaken = errors.New("the port is in use")

// exitError reports a program that exited and is not restarted.
type exitError struct {
	program string
	err     error
	logTail string // the end of its log
}

func (e *exitError) Error() string {
	return fmt.Sprintf("%s exited: %v%s", e.program, e.err, e.logTail)
}

func (e *exitError) Unwrap() error { return e.err }

// processes are the running programs of a control plane.
type processes struct {
	dir     string
	env     []string
	options Options
	end     context.CancelCauseFunc // ends all programs
	note    func(string)
	ready   atomic.Bool // programs that exit are restarted
	running sync.WaitGroup
}

// add starts a program and restarts it until ctx ends. A program that exits before all
// are ready, or too often, ends the control plane.
func (c *processes) add(ctx context.Context, p program) {
	c.running.Go(func() {
		for exits := 1; ; exits++ {
			began := time.Now()
			err := c.run(ctx, p)
			if ctx.Err() != nil {
				return
			}
			if time.Since(began) > quickExit {
				exits = 1
			}
			if !c.ready.Load() || exits == maxQuickExits {
				c.end(c.exitReason(p, err))
				return
			}
			c.note(fmt.Sprintf("%s exited (%v): restarting it", p.name, err))
			select {
			case <-time.After(time.Duration(exits-1) * backoff):
			case <-ctx.Done():
				return
			}
		}
	})
}

// wait returns when all programs have exited, after their context has ended.
func (c *processes) wait() { c.running.Wait() }

// run runs a program once. It never returns nil, since no program exits by itself.
func (c *processes) run(ctx context.Context, p program) error {
	log, err := os.OpenFile(c.log(p), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(ctx, assets.Program(c.options.Assets, p.name), p.args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = grace
	started, err := tag(cmd, filepath.Join(c.dir, p.name+pidSuffix))
	if err != nil {
		return err
	}
	wait, err := process.Start(cmd)
	started(cmd.Process)
	if err != nil {
		return err
	}
	if err := wait(); err != nil {
		return err
	}
	return errors.New("exit status 0")
}

func (c *processes) log(p program) string { return filepath.Join(c.dir, p.name+".log") }

// exitReason explains why a program exited.
func (c *processes) exitReason(p program, err error) error {
	tail := logTail(c.log(p))
	portTaken := strings.Contains(tail, "address already in use") || strings.Contains(tail, "Only one usage of each socket address")
	if portTaken && p.name == serverProgram && !c.ready.Load() {
		err = errPortTaken
	}
	return &exitError{p.name, err, tail}
}
