package command

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/term"
)

const (
	showAfter      = 300 * time.Millisecond
	redrawInterval = 100 * time.Millisecond
)

// ShowProgress shows the progress of generators that use the returned context, on a
// terminal and after some time. done stops it and removes the line. The caller prints
// nothing until then.
func (a *App) ShowProgress(ctx context.Context) (shown context.Context, done func()) {
	line := term.NewStatus(a.Err, a.Getenv)
	if line == nil {
		return ctx, func() {}
	}
	var (
		mu    sync.Mutex
		now   step
		drawn sync.WaitGroup
	)
	finished := make(chan struct{})
	drawn.Go(func() {
		wait := time.NewTimer(showAfter)
		defer wait.Stop()
		for last := (step{}); ; {
			select {
			case <-finished:
				line.Clear()
				return
			case <-wait.C:
				wait.Reset(redrawInterval)
			}
			mu.Lock()
			next := now
			mu.Unlock()
			if next != last {
				line.Show(next.String())
				last = next
			}
		}
	})
	report := func(phase string, done, total int) {
		mu.Lock()
		now = step{phase, done, total}
		mu.Unlock()
	}
	return progress.With(ctx, report), func() { close(finished); drawn.Wait() }
}

// step is the current step of the generators.
type step struct {
	phase       string
	done, total int
}

func (s step) String() string {
	switch {
	case s.total > 0:
		return fmt.Sprintf("%s %d/%d", s.phase, s.done, s.total)
	case s.done > 0:
		return fmt.Sprintf("%s %d", s.phase, s.done)
	}
	return s.phase
}
