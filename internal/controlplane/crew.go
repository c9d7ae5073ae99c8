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
	// quick is how soon a program must end again to count as one that does not
	// work, and maxQuick how often in a row it may.
	quick    = 10 * time.Second
	maxQuick = 5
	// backoff is added to the pause before each further start.
	backoff = 200 * time.Millisecond
	// grace is how long the programs may take to end. Nothing that they would
	// save is kept, and the API server waits a minute for open watches.
	grace = 100 * time.Millisecond
)

// errPortTaken is a death of the API server that another port would have averted.
var errPortTaken = errors.New("the port was taken meanwhile")

// deathError is a program that ended by itself, for good.
type deathError struct {
	program string
	err     error
	words   string // the end of its log
}

func (e *deathError) Error() string { return fmt.Sprintf("%s ended: %v%s", e.program, e.err, e.words) }

func (e *deathError) Unwrap() error { return e.err }

// crew is the running programs of a control plane.
type crew struct {
	dir     string
	env     []string
	options Options
	end     context.CancelCauseFunc // ends the whole crew
	note    func(string)
	ready   atomic.Bool // programs that end are started again
	running sync.WaitGroup
}

// add starts a program and keeps it running until ctx ends. A program that ends
// before all are ready, or too often, ends the crew.
func (c *crew) add(ctx context.Context, p program) {
	c.running.Go(func() {
		for deaths := 1; ; deaths++ {
			began := time.Now()
			err := c.run(ctx, p)
			if ctx.Err() != nil {
				return
			}
			if time.Since(began) > quick {
				deaths = 1
			}
			if !c.ready.Load() || deaths == maxQuick {
				c.end(c.death(p, err))
				return
			}
			c.note(fmt.Sprintf("%s ended (%v): starting it again", p.name, err))
			select {
			case <-time.After(time.Duration(deaths-1) * backoff):
			case <-ctx.Done():
				return
			}
		}
	})
}

// wait returns when all programs have ended, after their context.
func (c *crew) wait() { c.running.Wait() }

// run runs a program once. It never returns nil: none of them is to end.
func (c *crew) run(ctx context.Context, p program) error {
	log, err := os.OpenFile(c.log(p), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(ctx, assets.Program(c.options.Assets, p.name), p.args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = grace
	known, err := tag(cmd, filepath.Join(c.dir, p.name+pidSuffix))
	if err != nil {
		return err
	}
	wait, err := process.Start(cmd)
	known(cmd.Process)
	if err != nil {
		return err
	}
	if err := wait(); err != nil {
		return err
	}
	return errors.New("exit status 0")
}

func (c *crew) log(p program) string { return filepath.Join(c.dir, p.name+".log") }

// death explains why a program ended.
func (c *crew) death(p program, err error) error {
	words := lastWords(c.log(p))
	if !c.ready.Load() && p.name == serverProgram && (strings.Contains(words, "address already in use") || strings.Contains(words, "Only one usage of each socket address")) {
		err = errPortTaken
	}
	return &deathError{p.name, err, words}
}
