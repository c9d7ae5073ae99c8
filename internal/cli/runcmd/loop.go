package runcmd

import (
	"context"
	"errors"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/manager"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/watch"
)

// loop runs a program, and restarts it when it changes.
type loop struct {
	*command.App // in the project root, with the environment of the program
	program      *program
	generate     func(command.Project) error
	watcher      *watch.Watcher
	cluster      *cluster.Cluster
	install      string // the command that updates the CRDs there

	warned string        // the last warning about CRDs, or ""
	failed bool          // whether the last update failed
	state  string        // of what was started last; "" before
	end    func()        // asks the process to end
	ended  chan struct{} // closed when it has ended
}

// run returns when ctx ends, or when the project is gone. An invalid project ends it at the start only.
func (l *loop) run(ctx context.Context) error {
	defer l.stop()
	var paths []string
	for {
		err := l.update(ctx, paths)
		l.failed = err != nil
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && paths == nil && fault.Code(err) == fault.CodeUsage:
			return err
		case err != nil:
			l.PrintError(err)
			if l.isRunning() {
				l.Notef("the operator keeps running without the change")
			}
		}
		paths, err = l.watcher.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, watch.ErrGone):
			return fault.Failed("start the command again in a project", "%s no longer exists: nothing left to run", l.Dir)
		case err != nil:
			return err
		}
	}
}

// update generates and builds, and then restarts the program if it or its data have changed, or if it
// does not run. After an error, the program runs on.
func (l *loop) update(ctx context.Context, changed []string) error {
	p, err := l.OpenProject()
	if err != nil {
		return err
	}
	l.program.last = l.program.inputs(ctx, l.App)
	if err := l.generate(p); err != nil {
		return err
	}
	l.warnOfCRDs(ctx)
	state, err := l.program.compile(ctx, l.App)
	if err != nil || ctx.Err() != nil {
		return err
	}
	if l.isRunning() && state == l.state {
		if l.failed {
			l.Notef("fixed; the operator keeps running")
		}
		return nil
	}
	if len(changed) > 0 {
		l.Notef("%s changed: restarting", l.ChangedFiles(changed))
	}
	l.stop()
	l.state = state
	l.start(ctx, p)
	return nil
}

// warnOfCRDs warns about CRDs that the cluster lacks or has with another schema, unless the last warning says
// the same.
func (l *loop) warnOfCRDs(ctx context.Context) {
	warning := crdWarning(ctx, l.cluster, l.Dir)
	if warning != "" && warning != l.warned {
		l.Warnf("%s: run %s", warning, l.install)
	}
	l.warned = warning
}

// start starts the program, and reports how it ends unless stop or the end of ctx ends it.
func (l *loop) start(ctx context.Context, p command.Project) {
	running, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	l.end, l.ended = end, ended
	go func() {
		defer close(ended)
		err := manager.Run(running, l.App, p, append([]string{l.program.path}, l.program.args...))
		switch {
		case running.Err() != nil && err == nil:
		case err != nil:
			l.PrintError(fault.Failed("the next save starts it again", "the operator ended: %v", err))
		default:
			l.Notef("the operator ended; the next save starts it again")
		}
	}()
}

// stop ends the process, if it runs, and waits for its end.
func (l *loop) stop() {
	if l.ended != nil {
		l.end()
		<-l.ended
	}
}

func (l *loop) isRunning() bool {
	if l.ended == nil {
		return false
	}
	select {
	case <-l.ended:
		return false
	default:
		return true
	}
}
