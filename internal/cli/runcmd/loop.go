package runcmd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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

	warned  string         // the last warning about CRDs, or ""
	lacking []string       // CRDs that the cluster lacks; the operator starts when it has them
	waits   atomic.Bool    // whether there are such CRDs
	samples sync.Once      // to apply them
	pending sync.WaitGroup // until the samples are applied
	failed  bool           // whether the last update failed
	state   string         // of what was started last; "" before
	end     func()         // asks the process to end
	ended   chan struct{}  // closed when it has ended
}

// run returns when ctx ends, or when the project is gone. An invalid project ends it at the start only.
func (l *loop) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer l.pending.Wait()
	defer cancel()
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
	l.wait(nil)
	p, err := l.OpenProject()
	if err != nil {
		return err
	}
	l.program.last = l.program.inputs(ctx, l.App)
	if err := l.generate(p); err != nil {
		return err
	}
	lacking, err := l.checkCRDs(ctx)
	if err != nil {
		return err
	}
	state, err := l.program.compile(ctx, l.App)
	if err != nil || ctx.Err() != nil {
		return err
	}
	running := l.isRunning()
	if running && state == l.state {
		if l.failed {
			l.Notef("fixed; the operator keeps running")
		}
		return nil
	}
	if l.wait(lacking); len(lacking) > 0 {
		if running {
			l.Notef("the operator keeps running without the change until the cluster has its CRDs")
		} else {
			l.Notef("the operator starts when the cluster has its CRDs")
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
// last warning says the same. It returns those that the cluster lacks: without its CRDs, an operator would only end.
func (l *loop) checkCRDs(ctx context.Context) (lacking []string, err error) {
	if l.install {
		found, err := compareCRDs(ctx, l.cluster, l.Dir)
		if err == nil {
			err = found.apply(ctx, l.cluster)
		}
		if all := slices.Concat(found.missing, found.different); err == nil && len(all) > 0 {
			l.Notef("installed CRD %s", strings.Join(names(all), ", "))
		}
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, crdTimeout)
	defer cancel()
	found, _ := compareCRDs(limited, l.cluster, l.Dir) // what cannot be built or read causes no warning
	warning := found.String()
	if warning != "" && warning != l.warned {
		l.Warnf("%s: run %s, or operon run --install", warning, l.byHand)
	}
	l.warned = warning
	return names(found.missing), nil
}

// wait sets the CRDs for which the operator waits.
func (l *loop) wait(lacking []string) {
	l.lacking = lacking
	l.waits.Store(len(lacking) > 0)
}

// next waits for changes of the project, or until the cluster serves the CRDs for which the operator waits.
func (l *loop) next(ctx context.Context) ([]string, error) {
	for len(l.lacking) > 0 {
		limited, cancel := context.WithTimeout(ctx, retryInterval)
		paths, err := l.watcher.Next(limited)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return paths, err
		}
		for len(l.lacking) > 0 && served(ctx, l.cluster, l.lacking[0]) == nil {
			l.wait(l.lacking[1:])
		}
		if len(l.lacking) == 0 {
			l.Notef("the cluster has the CRDs now")
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
	if l.install {
		l.samples.Do(func() { l.pending.Go(func() { l.applySamples(ctx) }) })
	}
	go func() {
		defer close(ended)
		err := manager.Run(running, l.App, p, append([]string{l.program.path}, l.program.args...))
		again := "the next save starts it again"
		if l.waits.Load() {
			again = "it starts again when the cluster has its CRDs"
		}
		switch {
		case running.Err() != nil && err == nil:
		case err != nil:
			l.PrintError(fault.Failed(again, "the operator ended: %v", err))
		default:
			l.Notef("the operator ended; %s", again)
		}
	}()
}

// applySamples applies the samples, and warns about those that the cluster refuses.
func (l *loop) applySamples(ctx context.Context) {
	if err := applySamples(ctx, l.cluster, l.Dir); err != nil && ctx.Err() == nil {
		l.Warnf("not all samples are applied: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
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
