// Command operon scaffolds Kubernetes operators and generates their manifests.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/operon-dev/operon/internal/cli"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/resultcache"
)

// echo is how long the same signal may come again: timeout(1) sends it to the
// process and then to its group, and a terminal and a parent may both send one.
const echo = 500 * time.Millisecond

func main() {
	if resultcache.Answer() {
		return
	}
	// A short life with much garbage: generating is a fifth faster when less of
	// it is collected. GOGC, when set, wins.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	// Hundreds of kinds make more garbage than a machine should hold for them:
	// from here on more is collected, before controller-gen's own peak is reached.
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(1200 << 20)
	}
	os.Exit(run())
}

// run cancels the command's context on the first SIGINT or SIGTERM, or when the
// terminal closes, so that it can put the tree back and end what it started. A
// signal that follows later than echo has its default effect.
func run() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
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
	return cli.Main(ctx, os.Args[1:])
}
