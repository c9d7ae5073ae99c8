package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/term"
)

// goGrace is how long tests may take to stop their API servers after Ctrl-C.
const goGrace = 20 * time.Second

// RunGo runs the go command in dir and writes its stdout to out. When ctx ends, RunGo stops
// go and its child processes, and returns the cause of the context.
func (a *App) RunGo(ctx context.Context, dir string, env []string, out io.Writer, args ...string) error {
	cmd := environ.Command(ctx, dir, env, "go", args...)
	cmd.Stdout, cmd.Stderr = out, a.Err
	cmd.WaitDelay = goGrace
	err := process.Run(cmd)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return fault.Failed("install Go from https://go.dev/dl", "go is not on PATH")
	}
	return err
}

// NoteSlow prints a note if done is not called within seconds, and one every minute: the go command prints nothing
// while it compiles.
func (a *App) NoteSlow() (done func()) {
	after := 15 * time.Second
	if term.IsTerminal(a.Err) {
		after = 3 * time.Second
	}
	finished := make(chan struct{})
	var printed sync.WaitGroup
	printed.Go(func() {
		note := "compiling the project and its dependencies; the first time takes minutes"
		for start := time.Now(); ; after = time.Minute {
			select {
			case <-finished:
				return
			case <-time.After(after):
				a.Progress(note)
			}
			note = fmt.Sprintf("still compiling after %.0f min", (time.Since(start) + time.Minute).Minutes()) // when it is printed
		}
	})
	return func() { close(finished); printed.Wait() }
}

// FirstLine returns the first line that a failed process wrote to stderr, or its exit
// status.
func FirstLine(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if line, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n"); line != "" {
			return line
		}
	}
	return err.Error()
}

// ImageEnviron returns the variables with which the Dockerfile of a project compiles: CGO_ENABLED=0, or none.
func ImageEnviron(root string) []string {
	dockerfile, _ := input.ReadFile(filepath.Join(root, "Dockerfile"), input.Text) // not every project has one
	if bytes.Contains(dockerfile, []byte("CGO_ENABLED=0")) {
		return []string{"CGO_ENABLED=0"}
	}
	return nil
}
