package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/operon-dev/operon/internal/fault"
)

// echo is the time in which repeated signals count as one: timeout(1) signals the process
// and then its group, and a terminal and a parent may both send a signal.
const echo = 500 * time.Millisecond

// untilSignal returns a context that the first SIGINT or SIGTERM cancels, or the end of the
// terminal, so that the command can restore the project and end its processes. A signal that
// arrives later than echo has its default effect. What the parent process ignores, as nohup and
// scripts do that clean up, stays ignored.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		code := fault.CodeTerminated
		if <-signals == os.Interrupt {
			code = fault.CodeInterrupted
		}
		cancel(&fault.Error{Code: code, Msg: "interrupted"})
		time.Sleep(echo)
		signal.Stop(signals)
	}()
	return ctx, func() { cancel(nil) }
}
