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
	install      bool   // operon installs CRDs and samples
	byHand       string // the command that installs the CRDs

	warned  string        // the last warning about CRDs, or ""
	waiting bool          // the operator does not start without CRDs that the cluster lacks
	sampled bool          // the samples are applied
	failed  bool          // whether the last update failed
	state   string        // of what was started last; "" before
	end     func()        // asks the process to end
	ended   chan struct{} // closed when it has ended
}

// run returns when ctx ends, or when the project is gone. An invalid project ends it at the start only.
func (l *loop) run(ctx context.Context) error {
	defer l.stop()
	var paths []string
	for first := true; ; first = false {
		err := l.update(ctx, paths)
		l.failed = err != nil
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && first && fault.Code(err) == fault.CodeUsage:
			return err
		case err != nil:
			l.PrintError(err)
			if l.isRunning() {
				l.Notef("the operator keeps running without the change")
			}
		}
		paths, err = l.next(ctx)
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
	lacks, err := l.checkCRDs(ctx)
	if err != nil {
		return err
	}
	state, err := l.program.compile(ctx, l.App)
	if err != nil || ctx.Err() != nil {
		return err
	}
	if l.waiting = lacks && !l.isRunning() && l.lacksCRDs(ctx); l.waiting {
		l.Notef("the operator starts when the cluster has its CRDs")
		return nil
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

// checkCRDs installs the CRDs that the cluster lacks or has with another schema, or else warns about them, unless the
// last warning says the same. It reports whether the cluster lacks some.
func (l *loop) checkCRDs(ctx context.Context) (lacks bool, err error) {
	found := compareCRDs(ctx, l.cluster, l.Dir)
	warning := found.String()
	if l.install && warning != "" {
		if err := found.apply(ctx, l.cluster); err != nil {
			return false, err
		}
		l.Notef("installed CRD %s", names(append(found.missing, found.different...)))
		return false, nil
	}
	if warning != "" && warning != l.warned {
		l.Warnf("%s: run %s, or operon run --install", warning, l.byHand)
	}
	l.warned = warning
	return len(found.missing) > 0, nil
}

// lacksCRDs reports whether the cluster lacks CRDs of the operator, without which it would only end.
func (l *loop) lacksCRDs(ctx context.Context) bool {
	return len(compareCRDs(ctx, l.cluster, l.Dir).missing) > 0
}

// next waits for changes of the project, or until the cluster has the CRDs of an operator that waits for them.
func (l *loop) next(ctx context.Context) ([]string, error) {
	for l.waiting {
		limited, cancel := context.WithTimeout(ctx, retryInterval)
		paths, err := l.watcher.Next(limited)
		late := limited.Err() != nil
		cancel()
		if !late || ctx.Err() != nil {
			return paths, err
		}
		if !l.lacksCRDs(ctx) {
			return nil, nil
		}
	}
	return l.watcher.Next(ctx)
}

// start starts the program, and reports how it ends unless stop or the end of ctx ends it.
func (l *loop) start(ctx context.Context, p command.Project) {
	running, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	l.end, l.ended = end, ended
	if l.install && !l.sampled {
		l.sampled = true
		go func() {
			if err := applySamples(ctx, l.cluster, l.Dir); err != nil && ctx.Err() == nil {
				l.Warnf("the samples are not applied: %v", err)
			}
		}()
	}
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
