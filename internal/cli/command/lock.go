package command

import (
	"context"
	"errors"
	"time"

	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

const (
	// longestWait is how long a command waits for another one in the project: an
	// editor and a Makefile start them side by side, and most take no second.
	longestWait = 5 * time.Second
	// silentWait is how long it waits before it says so.
	silentWait = 500 * time.Millisecond
	// between is the time between two looks at the lock.
	between = 20 * time.Millisecond
)

// lock locks the project, once another command is done there: after some time, or
// at once where the caller waits for itself, that is an error.
func (a *App) lock(ctx context.Context, root string, atOnce bool) (unlock func(), err error) {
	start, said := time.Now(), false
	for {
		unlock, err := scaffold.Lock(root)
		waited := time.Since(start)
		if !errors.Is(err, scaffold.ErrBusy) || atOnce || waited > longestWait {
			return unlock, err
		}
		if waited > silentWait && !said {
			a.notefOnce("waiting for another operon command, which is running in this project")
			said = true
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(between):
		}
	}
}

// recover puts back what a command left half-written when it was killed. A dry
// run writes nothing: scaffold.New then refuses the project.
func (a *App) recover(fsys afero.Fs, dryRun bool) error {
	if dryRun {
		return nil
	}
	done, err := scaffold.Recover(fsys)
	if done {
		a.notefOnce("note: an earlier command was killed while it wrote; its changes were taken back")
	}
	return err
}
