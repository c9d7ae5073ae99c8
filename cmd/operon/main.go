// Command operon scaffolds Kubernetes operators and generates their manifests.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/operon-dev/operon/internal/cli"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/load/driver"
	_ "github.com/operon-dev/operon/internal/memory" // sets when Go collects garbage
	"github.com/operon-dev/operon/internal/resultcache"
)

// echo is the time in which repeated signals count as one: timeout(1) signals the process
// and then its group, and a terminal and a parent may both send a signal.
const echo = 500 * time.Millisecond

func main() {
	if resultcache.Answer() {
		return
	}
	if is, err := driver.Answer(); is {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run())
}

// run runs the command. On the first SIGINT or SIGTERM, or when the terminal closes, it
// cancels the command's context, so that the command can restore the project and end its
// processes. A signal that arrives later than echo has its default effect. What the parent
// process ignores, as nohup and scripts do that clean up, stays ignored.
func run() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
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
	return cli.Main(ctx, os.Args[1:])
}
