// Command operon scaffolds Kubernetes operators and generates their manifests.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/operon-dev/operon/internal/cli"
	"github.com/operon-dev/operon/internal/fault"
)

func main() { os.Exit(run()) }

// run cancels the command's context on the first SIGINT or SIGTERM, so that it
// can put the tree back, and leaves the second one to its default effect.
func run() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		code := fault.CodeInterrupted
		if <-signals == syscall.SIGTERM {
			code = fault.CodeTerminated
		}
		signal.Stop(signals)
		cancel(&fault.Error{Code: code, Msg: "interrupted"})
	}()
	return cli.Main(ctx, os.Args[1:])
}
