package generatecmd

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/term"
	"github.com/operon-dev/operon/internal/watch"
)

// errorDelay is how long an error waits for a change that may fix it.
const errorDelay = 150 * time.Millisecond

// checkWatch refuses flags that contradict --watch.
func (o *generate) checkWatch() error {
	if !o.watch {
		return nil
	}
	for _, name := range []string{"check", "diff", "dry-run"} {
		if set, _ := o.cmd.Flags().GetBool(name); set {
			return fault.Usage("remove one of the flags", "--watch writes on every save, and --%s never writes", name)
		}
	}
	if o.Output != command.FormatText {
		return fault.Usage("remove --output", "--watch prints text only and does not support --output %s", o.Output)
	}
	return nil
}

// watchLoop keeps generated files up to date. Between two cycles it holds neither the
// project lock, so that other commands can run, nor the sources in memory.
type watchLoop struct {
	*command.App
	o       *generate
	args    []string
	root    string
	watcher *watch.Watcher
	status  *term.Status // a line that the next one replaces

	plan      *scaffold.Plan       // of the last cycle
	inputs    scaffold.Inputs      // of the last successful cycle
	lastState map[string]*[32]byte // SHA-256 of each file after the last cycle; nil if it does not exist

	failure  string // of the last cycle, or ""
	warnings []scaffold.Warning
}

// watchProject generates files now and after each change, until the user stops it.
func (o *generate) watchProject(a *command.App, args []string) error {
	root, err := project.FindRoot(a.Dir)
	if err != nil {
		return err
	}
	loop := &watchLoop{App: a, o: o, args: args, root: root}
	if term.IsTerminal(a.Out) {
		loop.status = term.NewStatus(a.Err, a.Getenv)
	}
	if loop.watcher, err = watch.Open(root, loop.isRelevant); err != nil { // before the first read, so that no save is missed
		return err
	}
	defer func() { _ = loop.watcher.Close() }()
	ctx := o.cmd.Context()
	if err := loop.generateFirst(ctx); err != nil {
		return err
	}
	if err := loop.watcher.Also(loop.outside()); err != nil {
		return err
	}
	a.Notef("watching %d folders, press Ctrl-C to stop", loop.watcher.Folders())
	for err == nil {
		// Return memory to the system before a possibly long wait.
		debug.FreeOSMemory()
		if err = loop.generateNext(ctx); err == nil {
			err = loop.watcher.Also(loop.outside())
		}
	}
	if ctx.Err() == nil {
		loop.status.Clear()
		return err
	}
	loop.status.Show("") // overwrites the ^C of the terminal
	loop.status.Clear()
	a.Notef("stopped")
	if hint := fault.HintOf(err); hint != "" { // of a cycle that was interrupted
		a.Notef("%s", hint)
	}
	return nil
}

// generateFirst generates at the start and prints the usual report. An invalid command
// line or PROJECT ends the watch; errors in sources do not.
func (loop *watchLoop) generateFirst(ctx context.Context) error {
	_, err := loop.cycle(ctx, func(r command.PlanReport) error { return loop.PrintPlan(r, loop.o.Output) })
	if err == nil {
		loop.warnings, loop.plan = loop.plan.Warnings(), nil
		return nil
	}
	if ctx.Err() != nil || fault.Code(err) == fault.CodeUsage {
		return err
	}
	loop.failure = failureText(err)
	loop.PrintError(err)
	return nil
}

// generateNext waits for changes and generates. An error ends the watch.
func (loop *watchLoop) generateNext(ctx context.Context) error {
	paths, err := loop.nextChanges(ctx)
	if err != nil || len(paths) == 0 {
		return err
	}
	loop.status.Clear()
	spent, failed := loop.cycle(ctx, func(command.PlanReport) error { return nil })
	for range 3 {
		if failed == nil || ctx.Err() != nil {
			break
		}
		// Do not report an error while an editor or git is still writing files.
		soon, cancel := context.WithTimeout(ctx, errorDelay)
		more, err := loop.nextChanges(soon)
		cancel()
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) || err == nil && len(more) == 0 {
			break
		}
		if err != nil {
			return err
		}
		paths = slices.Compact(slices.Sorted(slices.Values(append(paths, more...))))
		spent, failed = loop.cycle(ctx, func(command.PlanReport) error { return nil })
	}
	if failed != nil && ctx.Err() != nil {
		return failed
	}
	return loop.report(line{at: loop.Now(), spent: spent, causes: paths}, failed)
}

// nextChanges waits for changes and returns the relevant ones, which may be none.
func (loop *watchLoop) nextChanges(ctx context.Context) ([]string, error) {
	paths, err := loop.watcher.Next(ctx)
	if errors.Is(err, watch.ErrGone) {
		return nil, errGone(loop.root)
	}
	if err != nil {
		return nil, err
	}
	if paths = slices.DeleteFunc(paths, loop.isUnchanged); len(paths) == 0 {
		return nil, nil
	}
	if !loop.exists(project.File) {
		return nil, errGone(loop.abs(project.File))
	}
	if i := slices.IndexFunc(paths, loop.readAtStart); i >= 0 {
		return nil, fault.Failed("start the command again", "%s changed: it defines plural names, and is read only at startup", paths[i])
	}
	return paths, nil
}

// report prints the result of a cycle and records it.
func (loop *watchLoop) report(l line, failed error) error {
	var more func()
	if failed != nil {
		text := failureText(failed)
		l.failed, l.again, loop.failure = true, text == loop.failure, text
		if !l.again {
			more = func() { loop.PrintError(failed) }
		}
	} else {
		l.changes, l.recovered, loop.failure = command.ChangesToApply(loop.plan.Changes()), loop.failure != "", ""
		if now := loop.plan.Warnings(); !slices.Equal(now, loop.warnings) {
			loop.warnings = now
			more = func() { loop.PrintWarnings(now) }
		}
	}
	loop.plan = nil
	return loop.printLine(l, more)
}

// printLine prints the line of a cycle, and then calls more, which may be nil.
func (loop *watchLoop) printLine(l line, more func()) error {
	width := term.Width(loop.Out)
	if loop.status != nil && l.quiet() && more == nil {
		loop.status.Show(l.text(func(_, text string) string { return text }, width))
		return nil
	}
	paint := command.Painter(loop.Out, loop.Getenv)
	var text strings.Builder
	text.WriteString(l.text(paint, width) + "\n")
	if err := loop.Print(text.String()); err != nil {
		return fault.In("print the report", err)
	}
	if more != nil {
		more()
	}
	return nil
}

// cycle generates as a new command does, and reports with show. It waits for other
// commands in the project. It returns the time without this wait.
func (loop *watchLoop) cycle(ctx context.Context, show func(command.PlanReport) error) (spent time.Duration, err error) {
	w := loop.o.WriteFlags
	w.Report, w.NoWait = show, true // it waits here
	loop.plan = nil
	plan := loop.o.plan(loop.App, loop.args)
	build := func(ctx context.Context, s command.Project) error {
		loop.plan = s.Plan
		if err := plan(ctx, s); err != nil {
			return err
		}
		if len(s.Plan.Printed()) > 0 {
			return fault.Usage("remove --watch, or use another output rule", "--watch cannot update output that goes to stdout")
		}
		return nil
	}
	for tries := 0; ; tries++ {
		start := loop.Now()
		err = loop.ChangeProject(loop.o.cmd, command.Project{Root: loop.root}, w, build)
		if !errors.Is(err, scaffold.ErrBusy) {
			spent = loop.Now().Sub(start)
			break
		}
		if tries == 20 {
			loop.Notef("waiting for another operon command in this project")
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
	loop.recordState(err == nil)
	return spent, err
}

// errGone ends a watch whose project was removed.
func errGone(what string) error {
	return fault.Failed("start the command again in a project", "%s no longer exists: nothing left to watch", what)
}

// failureText returns an error as it is printed.
func failureText(err error) string { return err.Error() + "\n" + fault.HintOf(err) }
