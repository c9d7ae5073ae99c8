package command

import (
	"context"
	"errors"
	"time"

	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

const (
	// silentWait is how long a command waits for another one in the project before it
	// prints a note. Editors and Makefiles start several at once, and most take less.
	silentWait = time.Second
	// retryInterval is the time between two attempts to take the lock.
	retryInterval = 20 * time.Millisecond
)

// lock locks the project. It waits as long as another command holds the lock, which ends
// with its process. With atOnce it returns scaffold.ErrBusy instead.
func (a *App) lock(ctx context.Context, root string, atOnce bool) (unlock func(), err error) {
	start, noted := time.Now(), false
	for {
		unlock, err := scaffold.Lock(root)
		waited := time.Since(start)
		if !errors.Is(err, scaffold.ErrBusy) || atOnce {
			return unlock, err
		}
		if waited > silentWait && !noted {
			a.notefOnce("waiting for another operon command in this project; Ctrl+C ends the wait")
			noted = true
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(retryInterval):
		}
	}
}

// recover reverts the changes of a command that was killed while it wrote. A dry run
// writes nothing: scaffold.New then rejects the project.
func (a *App) recover(fsys afero.Fs, dryRun bool) error {
	if dryRun {
		return nil
	}
	done, err := scaffold.Recover(fsys)
	if done {
		a.notefOnce("note: an earlier command was killed while it wrote; its changes were reverted")
	}
	return err
}
