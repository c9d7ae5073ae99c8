package hookscmd

import (
	"context"
	"errors"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/shelloperator"
	"github.com/operon-dev/operon/internal/watch"
)

// hooksLoop runs shell-operator, and restarts it when the files of hooks change.
type hooksLoop struct {
	*command.App // in the folder of hooks
	program      shelloperator.Program
	watcher      *watch.Watcher
	load         func(context.Context) ([]*config.Config, error)
}

// run runs hooks until ctx ends. It returns an error if shell-operator ends before the first restart.
// Later, the error is printed, and the next save starts shell-operator again.
func (l hooksLoop) run(ctx context.Context, hooks []*config.Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for first := true; ; first = false {
		var failed error
		running, end := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			failed = l.program.Run(running, hooks)
			switch {
			case failed == nil:
			case first:
				cancel()
			default:
				l.PrintError(failed)
				l.Notef("the next save starts shell-operator again")
			}
		}()
		next, err := l.await(ctx)
		end()
		<-ended
		if first && failed != nil {
			return failed
		}
		if err != nil || next == nil {
			return err
		}
		hooks = next
	}
}

// await waits until files have changed and all hooks are valid. It returns nil when ctx ends.
func (l hooksLoop) await(ctx context.Context) ([]*config.Config, error) {
	for {
		paths, err := l.watcher.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, nil
		case errors.Is(err, watch.ErrGone):
			return nil, fault.Failed("start it again", "the folder %s was removed: there are no hooks to run", l.Dir)
		case err != nil:
			return nil, err
		}
		hooks, err := l.load(ctx)
		if err == nil {
			l.Notef("%s changed: restarting", l.ChangedFiles(paths))
			return hooks, nil
		}
		if ctx.Err() == nil {
			l.PrintError(err)
			l.Notef("the hooks run on without the change")
		}
	}
}
