package watchdog

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

// TestWatchdog expects the end of a program whose foreign code runs for too long, or does not end with the program's context. The
// watchdog belongs to the process, so the steps come one after the other.
func TestWatchdog(t *testing.T) {
	ended := make(chan error)
	start := func(ctx context.Context) {
		Start(ctx, func(err error) {
			ended <- err
			runtime.Goexit()
		})
	}
	expect := func(want string) {
		t.Helper()
		select {
		case err := <-ended:
			if err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		case <-time.After(time.Minute):
			t.Errorf("no end, want %s", want)
		}
		running.Lock()
		defer running.Unlock()
		running.watching = false // exit does not return in a program
	}

	// Code that has ended, or has run for a short time, does not count.
	start(t.Context())
	Enter("the template a")()
	defer Enter("the template b")()

	leave := Enter("the template c")
	since(t, "the template c", time.Now().Add(-maxTime))
	expect("the template c does not end within 1m0s")
	leave()

	ctx, cancel := context.WithCancelCause(t.Context())
	start(ctx)
	defer Enter("the template d")()
	cancel(errors.New("interrupted"))
	expect("interrupted")
}

// since sets the time when running code has started.
func since(t *testing.T, what string, start time.Time) {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	for n, c := range running.calls {
		if c.what == what {
			running.calls[n] = call{what, start}
		}
	}
}
